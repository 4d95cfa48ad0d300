/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libbpf loads all of an object or nothing. So that a program that this kernel refuses does not
 * take the others with it, programs whose tracepoint is not there are left out at once, and when
 * loading fails each program is tried alone and those that load are loaded together.
 */
#include "src/kernel/bpf_group.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/str.h"
#include "src/kernel/counters.h"
#include "src/kernel/event_class.h"
#include "src/kernel/libc/libc_probes.h"
#include "src/kernel/rights.h"

#define ALL_PROGRAMS	UINT32_MAX

static void explain(struct kernel_group_state *s, int rc, bool perf)
{
	struct rights rights;
	struct rights_reason reason;

	rights_read("", &rights);
	reason = perf ? rights_why_no_perf(&rights, rc) : rights_why_no_bpf(&rights, rc);
	snprintf(s->why, sizeof(s->why), "%s", reason.why);
	snprintf(s->remedy, sizeof(s->remedy), "%s", reason.remedy ? reason.remedy : "");
}

static void fail(struct bpf_group *g, int rc, const char *what)
{
	struct kernel_group_state *s = &g->state;

	s->status = KERNEL_GROUP_FAILED;
	snprintf(s->why, sizeof(s->why), "%s: %s", what, strerror(-rc));
	if (rc == -EPERM || rc == -EACCES)
		explain(s, rc, g->no_perf);
}

/* "tp_btf/NAME", "raw_tp/NAME": the tracepoint; NULL: another sort of program. */
static const char *tracepoint_of(const struct bpf_program *p)
{
	const char *section = bpf_program__section_name(p);

	if (!strncmp(section, "tp_btf/", 7) || !strncmp(section, "raw_tp/", 7))
		return section + 7;
	return NULL;
}

/* The number of a tracepoint's arguments in this kernel; -1: it has no such tracepoint. */
static int tracepoint_args(const struct btf *kernel, const char *name)
{
	char symbol[128];
	const struct btf_type *t;
	int id;

	snprintf(symbol, sizeof(symbol), "btf_trace_%s", name);
	id = btf__find_by_name_kind(kernel, symbol, BTF_KIND_TYPEDEF);
	t = id > 0 ? btf__type_by_id(kernel, id) : NULL;
	if (t)
		t = btf__type_by_id(kernel, t->type);		/* pointer */
	if (t)
		t = btf__type_by_id(kernel, t->type);		/* to a function */
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : -1;
}

/* Where `config` is in the object's constants; -1: it has none. */
static long config_offset(const struct bpf_object *object)
{
	const struct btf *btf = bpf_object__btf(object);
	int id = btf ? btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC) : -1;
	const struct btf_type *section = id > 0 ? btf__type_by_id(btf, id) : NULL, *var;

	for (unsigned i = 0; section && i < btf_vlen(section); i++) {
		const struct btf_var_secinfo *v = btf_var_secinfos(section) + i;

		var = btf__type_by_id(btf, v->type);
		if (var && !strcmp(btf__name_by_offset(btf, var->name_off), "config") &&
		    v->size == sizeof(struct trace_config))
			return v->offset;
	}
	return -1;
}

static int set_config(struct bpf_object *object, const struct trace_config *config)
{
	long at = config_offset(object);
	struct bpf_map *map;

	if (at < 0)
		return -EINVAL;
	bpf_object__for_each_map(map, object) {
		const char *name = bpf_map__name(map);
		size_t bytes, length = strlen(name);
		char *value;

		if (length < 7 || strcmp(name + length - 7, ".rodata"))
			continue;
		value = (char *)bpf_map__initial_value(map, &bytes);
		if (!value || bytes < at + sizeof(*config))
			return -EINVAL;
		memcpy(value + at, config, sizeof(*config));
		return 0;
	}
	return -EINVAL;
}

static int share_maps(struct bpf_object *object, const struct bpf_shared *shared)
{
	struct bpf_map *map;
	int rc = 0;

	bpf_object__for_each_map(map, object) {
		const char *name = bpf_map__name(map);

		if (!strcmp(name, "events"))
			rc = bpf_map__reuse_fd(map, shared->events);
		else if (!strcmp(name, "targets"))
			rc = bpf_map__reuse_fd(map, shared->targets);
		else if (!strcmp(name, "counts"))
			rc = bpf_map__reuse_fd(map, shared->counts);
		else if (!strcmp(name, "fault_programs"))
			rc = bpf_map__reuse_fd(map, shared->fault_programs);
		else if (!strcmp(name, "rooms"))
			rc = bpf_map__set_max_entries(map, shared->nr_cpus);
		else if (!strcmp(name, "kmem_objects"))
			rc = bpf_map__set_max_entries(map, shared->kmem_objects);
		if (rc)
			return rc;
	}
	return 0;
}

static bool is_spare(const struct bpf_group *g, const char *tracepoint)
{
	const char *const *name = g->info->spare;

	while (name && *name && strcmp(*name, tracepoint))
		name++;
	return name && *name;
}

/* Does this kernel have a helper? */
static bool has_helper(const struct btf *kernel, const char *name)
{
	int id = btf__find_by_name_kind(kernel, "bpf_func_id", BTF_KIND_ENUM);
	const struct btf_type *t = id > 0 ? btf__type_by_id(kernel, id) : NULL;

	for (unsigned i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(kernel, btf_enum(t)[i].name_off), name))
			return true;
	return false;
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);

	return length >= tail && !strcmp(name + length - tail, end);
}

/* Leave out what needs a helper that is missing, or is only for kernels without it. */
static void choose_by_helper(struct bpf_group *g, struct bpf_object *object,
			     const struct btf *kernel)
{
	const struct group_helper *helper = g->info->helper;
	bool has = !helper || has_helper(kernel, helper->name);
	struct bpf_program *p;
	struct bpf_map *map;

	if (!helper)
		return;
	bpf_object__for_each_program(p, object)
		if (ends_with(bpf_program__name(p), has ? helper->without : helper->with))
			bpf_program__set_autoload(p, false);
	if (has)
		return;
	bpf_object__for_each_map(map, object)	/* those kernels may not have it either */
		if (bpf_map__type(map) == BPF_MAP_TYPE_TASK_STORAGE)
			bpf_map__set_autocreate(map, false);
	g->state.status = KERNEL_GROUP_PARTLY;
	snprintf(g->state.why, sizeof(g->state.why), "%s", helper->lacking);
}

/* Leave out the programs of counters that are not chosen. */
static void choose_counters(struct bpf_group *g, struct bpf_object *object, uint32_t chosen)
{
	const struct group_perf *perf = g->info->perf;

	for (unsigned i = 0; perf && perf[i].program; i++) {
		struct bpf_program *p =
			bpf_object__find_program_by_name(object, perf[i].program);

		if (perf[i].kind && p && !(chosen >> i & 1))
			bpf_program__set_autoload(p, false);
	}
}

/* Leave programs out that are not in `mask` or have no tracepoint; how many are left. */
static int choose_programs(struct bpf_group *g, struct bpf_object *object, uint32_t mask,
			   const struct bpf_shared *shared)
{
	struct bpf_program *p;
	int nr = 0, left = 0;

	choose_by_helper(g, object, shared->kernel);
	choose_counters(g, object, shared->counters);
	bpf_object__for_each_program(p, object) {
		const char *tracepoint = tracepoint_of(p);
		bool chosen = bpf_program__autoload(p) && mask >> nr & 1;
		bool there = !tracepoint || tracepoint_args(shared->kernel, tracepoint) >= 0;

		if (!there && g->state.status != KERNEL_GROUP_PARTLY && !is_spare(g, tracepoint)) {
			g->state.status = KERNEL_GROUP_PARTLY;
			snprintf(g->state.why, sizeof(g->state.why),
				 "this kernel has no tracepoint %s", tracepoint);
		}
		bpf_program__set_autoload(p, there && chosen);
		left += there && chosen;
		nr++;
	}
	return left;
}

/* The programs of `mask` in the kernel: 0 and *out, or -errno; -ENOENT: none is left. */
static int load(struct bpf_group *g, const struct bpf_shared *shared, uint32_t mask,
		struct bpf_object **out)
{
	const struct kernel_group_info *info = g->info;
	struct bpf_object_open_opts opts = { .sz = sizeof(opts), .object_name = info->name,
					     .btf_custom_path = shared->types };
	struct trace_config config = shared->config;
	struct bpf_object *object =
		bpf_object__open_mem(info->object, info->object_end - info->object, &opts);
	int rc;

	if (!object)
		return -errno;
	if (info->varying) {
		int nr = tracepoint_args(shared->kernel, info->varying);

		config.nr_args = nr < 0 ? 0 : nr;
	}
	rc = share_maps(object, shared);
	if (!rc)
		rc = set_config(object, &config);
	if (!rc && !choose_programs(g, object, mask, shared))
		rc = -ENOENT;
	if (!rc)
		rc = bpf_object__load(object);
	if (rc)
		bpf_object__close(object);
	else
		*out = object;
	return rc;
}

static void explain_refused(struct bpf_group *g, uint32_t refused, int error)
{
	const struct kernel_group_info *info = g->info;
	struct bpf_object *object =
		bpf_object__open_mem(info->object, info->object_end - info->object, NULL);
	struct str names = STR_INIT;
	struct bpf_program *p;
	int nr = 0;

	bpf_object__for_each_program(p, object) {
		if (refused >> nr++ & 1)
			str_addf(&names, " %s", bpf_program__name(p));
	}
	snprintf(g->state.why, sizeof(g->state.why),
		 "this kernel refuses programs of pmm's (%s):%.100s", strerror(-error),
		 str_text(&names));
	str_fini(&names);
	bpf_object__close(object);
}

/* After loading failed: those programs that load, tried one by one. */
static int load_those_that_do(struct bpf_group *g, const struct bpf_shared *shared, int first_error)
{
	struct bpf_object *one;
	uint32_t good = 0, refused = 0;

	for (unsigned i = 0; i < BPF_GROUP_MAX_PROGRAMS; i++) {
		int rc = load(g, shared, 1u << i, &one);

		if (rc && rc != -ENOENT)
			refused |= 1u << i;
		if (rc)
			continue;
		good |= 1u << i;
		bpf_object__close(one);
	}
	if (!good)
		return first_error;
	if (!refused)		/* what was in the way then is gone */
		return load(g, shared, ALL_PROGRAMS, &g->object);
	/* worse than a tracepoint that is not there */
	g->state.status = KERNEL_GROUP_PARTLY;
	explain_refused(g, refused, first_error);
	return load(g, shared, good, &g->object);
}

static int add_link(struct bpf_group *g, struct bpf_link *link)
{
	if (!link)
		return -errno;
	if (g->nr_links == BPF_GROUP_MAX_LINKS) {
		bpf_link__destroy(link);
		return -ENOSPC;
	}
	g->link[g->nr_links++] = link;
	return 0;
}

/* On each processor that is there. */
static int attach_perf(struct bpf_group *g, struct bpf_program *p, const struct group_perf *perf,
		       int nr_cpus)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = perf->type,
					.config = perf->config, .sample_period = perf->period,
					.exclude_idle = !!perf->kind };
	int done = 0, last = -ENODEV;

	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		struct bpf_link *link;

		if (fd < 0) {
			last = -errno;
			if (last == -ENODEV)		/* not online */
				continue;
			g->no_perf = true;
			if (perf->kind && counters_is_missing(last))
				g->not_counted |= 1u << (perf - g->info->perf);
			return last;
		}
		link = bpf_program__attach_perf_event(p, fd);	/* the descriptor is its own now */
		if (!link) {
			last = -errno;
			close(fd);
			return last;
		}
		last = add_link(g, link);
		if (last)
			return last;
		done++;
	}
	return done ? 0 : last;
}

/* Each probe of one file; how many places it has got, or -errno where none could be attached. */
static int attach_file(struct bpf_group *g, struct bpf_program *p, const struct libc_file *file)
{
	int done = 0, last = -ENOENT;

	for (unsigned i = 0; i < LIBC_NR_PROBES; i++) {
		struct bpf_usdt_opts opts = {
			.sz = sizeof(opts),
			.usdt_cookie = libc_probes[i].kind | (uint64_t)(i + 1) << 32,
		};
		int rc = add_link(g, bpf_program__attach_usdt(p, -1, file->path, "libc",
							      libc_probes[i].name, &opts));

		done += !rc;
		if (rc && rc != -ENOENT)		/* it has no such probe */
			last = rc;
	}
	return done && last == -ENOENT ? done : last;
}

/* The probes of all files; what cannot be seen is in the state. */
static int attach_libc(struct bpf_group *g, struct bpf_program *p, const struct libc_files *files)
{
	int done = 0, last = -ENOENT;

	vec_each(&files->v, file) {
		int rc = file->state == LIBC_HAS_PROBES ? attach_file(g, p, file) : -ENOENT;

		if (rc >= 0) {
			done++;
			continue;
		}
		if (rc != -ENOENT)
			last = rc;
		g->state.status = KERNEL_GROUP_PARTLY;
		snprintf(g->state.why, sizeof(g->state.why), "%.90s: %s", file->name,
			 file->state != LIBC_HAS_PROBES ? libc_state_text(file->state)
							 : strerror(-rc));
	}
	return done ? 0 : last;
}

static int attach_program(struct bpf_group *g, struct bpf_program *p,
			  const struct bpf_shared *shared)
{
	const struct group_perf *perf = g->info->perf;

	if (g->info->libc_probes)
		return attach_libc(g, p, shared->libc);
	for (; perf && perf->program; perf++)
		if (!strcmp(perf->program, bpf_program__name(p)))
			return attach_perf(g, p, perf, shared->nr_cpus);
	return add_link(g, bpf_program__attach(p));
}

/* Some counters there are, and others not. */
static void say_not_counted(struct bpf_group *g)
{
	struct str names = STR_INIT;

	for (unsigned i = 0; i < KERNEL_NR_COUNTERS; i++)
		if (g->not_counted >> i & 1)
			str_addf(&names, "%s%s", str_text(&names)[0] ? ", " : "",
				 trace_kinds[g->info->perf[i].kind].name);
	snprintf(g->state.why, sizeof(g->state.why), "this processor does not count %.120s",
		 str_text(&names));
	str_fini(&names);
}

static int attach(struct bpf_group *g, const struct bpf_shared *shared)
{
	struct bpf_program *p;
	int done = 0, rc, last = -ENOENT;

	g->link = calloc(BPF_GROUP_MAX_LINKS, sizeof(struct bpf_link *));
	if (!g->link)
		return -ENOMEM;
	bpf_object__for_each_program(p, g->object) {
		if (!bpf_program__autoload(p))
			continue;
		rc = attach_program(g, p, shared);
		if (!rc) {
			done++;
			continue;
		}
		last = rc;
		if (g->state.status == KERNEL_GROUP_PARTLY)
			continue;
		g->state.status = KERNEL_GROUP_PARTLY;
		snprintf(g->state.why, sizeof(g->state.why), "%s cannot be attached: %s",
			 bpf_program__section_name(p), strerror(-rc));
	}
	if (g->not_counted && done)
		say_not_counted(g);
	return done ? 0 : last;
}

static void explain_counters(struct kernel_group_state *s, int rc)
{
	counters_why_none("", rc, s->why, sizeof(s->why));
	snprintf(s->remedy, sizeof(s->remedy),
		 "'--counters cpu_clock' samples by the kernel's clock");
}

static void explain_no_probes(struct kernel_group_state *s, const struct libc_files *files)
{
	s->status = KERNEL_GROUP_FAILED;
	libc_files_why_none(files, s->why, sizeof(s->why));
	snprintf(s->remedy, sizeof(s->remedy), "a glibc that was built with --enable-systemtap");
}

void bpf_group_open(struct bpf_group *g, enum kernel_group number, const struct bpf_shared *shared)
{
	int rc;

	*g = (struct bpf_group){ .info = &kernel_groups[number] };
	if (!g->info->object) {
		fail(g, -ENOTSUP, "pmm was built without eBPF");
		snprintf(g->state.remedy, sizeof(g->state.remedy),
			 "install clang and libbpf-dev, then build pmm again");
		return;
	}
	if (g->info->libc_probes && (!shared->libc || !libc_files_probed(shared->libc))) {
		explain_no_probes(&g->state, shared->libc);
		return;
	}
	rc = load(g, shared, ALL_PROGRAMS, &g->object);
	if (rc == -ENOENT) {
		g->state.status = KERNEL_GROUP_FAILED;
		if (!*g->state.why)
			snprintf(g->state.why, sizeof(g->state.why),
				 "none of its programs is for this kernel");
		return;
	}
	if (rc)
		rc = load_those_that_do(g, shared, rc);
	if (rc) {
		fail(g, rc, "programs cannot be loaded");
		return;
	}
	rc = attach(g, shared);
	if (rc) {
		fail(g, rc, "programs cannot be attached");
		if (g->not_counted)
			explain_counters(&g->state, rc);
		bpf_group_close(g);
		return;
	}
	if (g->state.status == KERNEL_GROUP_UNUSED)
		g->state.status = KERNEL_GROUP_WORKS;
}

int bpf_group_map(const struct bpf_group *g, const char *name)
{
	return g->object ? bpf_object__find_map_fd_by_name(g->object, name) : -1;
}

uint64_t bpf_group_missed(const struct bpf_group *g)
{
	struct bpf_program *p;
	uint64_t sum = 0;

	if (!g->object || g->info->meets_itself)
		return 0;
	bpf_object__for_each_program(p, g->object) {
		struct bpf_prog_info info = { 0 };
		uint32_t bytes = sizeof(info);

		if (bpf_program__fd(p) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &bytes))
			sum += info.recursion_misses;
	}
	return sum;
}

void bpf_group_close(struct bpf_group *g)
{
	for (unsigned i = 0; i < g->nr_links; i++)
		bpf_link__destroy(g->link[i]);
	free(g->link);
	g->link = NULL;
	g->nr_links = 0;
	bpf_object__close(g->object);
	g->object = NULL;
}
