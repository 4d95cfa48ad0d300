/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events by BPF programs (bpf/). */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/faults_abi.h"
#include "src/kernel/bpf_group.h"
#include "src/kernel/bpf_table.h"
#include "src/kernel/event_ring.h"
#include "src/kernel/rights.h"

#define FIRST_PID_NS	0xEFFFFFFCull	/* PROC_PID_INIT_INO, include/linux/proc_ns.h */
#define MAX_TARGETS	65536
#define MAX_PROGRAMS	65536	/* whose page faults are counted and not forgotten yet */
#define MAX_RECORD                                                                                 \
	(sizeof(struct trace_record) + sizeof(struct trace_regs) + TRACE_STACK_MAX)

struct bpf_source {
	struct bpf_shared shared;
	struct btf *kernel;
	struct event_ring ring;
	struct bpf_group group[KERNEL_NR_GROUPS];
	/* during a step */
	kernel_take *take;
	void *take_arg;
	uint64_t taken;
};

/* A record that is shorter than it says is nobody's but a fault of ours; it is left out. */
static int take_record(void *ctx, const void *data, size_t bytes)
{
	struct bpf_source *s = ctx;
	const struct trace_record *r = data;
	size_t need = sizeof(*r);

	if (bytes < sizeof(*r) || r->kind >= TRACE_NR_KINDS || r->tail_bytes > TRACE_STACK_MAX)
		return 0;
	need += r->tail_bytes + (r->flags & TRACE_STACK ? sizeof(struct trace_regs) : 0);
	if (bytes < need)
		return 0;
	s->taken++;
	return s->take(s->take_arg, r, r + 1);
}

/* Who pmm is, in which pid namespace. */
static void config_self(struct trace_config *c)
{
	struct stat st;

	c->self = getpid();
	if (stat("/proc/self/ns/pid", &st) || st.st_ino == FIRST_PID_NS)
		return;
	c->ns_dev = st.st_dev;
	c->ns_ino = st.st_ino;
}

static void config_make(struct trace_config *c, const struct kernel_options *o)
{
	config_self(c);
	if (o->nr_pids || o->by_targets)
		c->filters |= TRACE_ONLY_TARGETS;
	if (o->follow)
		c->filters |= TRACE_FOLLOW;
	if (o->memcg)
		c->filters |= TRACE_ONLY_MEMCG | (o->memcg_below ? TRACE_MEMCG_BELOW : 0);
	if (o->faults_by_program)
		c->filters |= TRACE_FAULTS_BY_PROGRAM;
	if (o->by_uid)
		c->filters |= TRACE_ONLY_UID;
	if (o->comm) {
		c->filters |= TRACE_ONLY_COMM;
		strncpy(c->comm, o->comm, sizeof(c->comm) - 1);
	}
	c->uid = o->uid;
	c->memcg = o->memcg;
	c->stack_bytes = o->stack_bytes > TRACE_STACK_MAX ? TRACE_STACK_MAX : o->stack_bytes;
	c->min_ns = o->min_ns;
	c->min_bytes = o->min_bytes;
	c->sample = o->sample;
	c->kmem_sample = kernel_kmem_sample(o);
	memcpy(c->kinds, o->kinds, sizeof(c->kinds));
}

static size_t ring_bytes(const struct kernel_options *o)
{
	return o->ring_bytes ? o->ring_bytes : KERNEL_RING_BYTES;
}

static int make_maps(struct bpf_source *s, const struct kernel_options *o)
{
	struct bpf_shared *h = &s->shared;

	h->nr_cpus = libbpf_num_possible_cpus();
	if (h->nr_cpus < 0)
		return h->nr_cpus;
	h->events = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "pmm_events", 0, 0,
				   ring_bytes(o), NULL);
	if (h->events < 0)
		return -errno;
	h->targets = bpf_map_create(BPF_MAP_TYPE_HASH, "pmm_targets", sizeof(uint32_t),
				    sizeof(struct trace_target), MAX_TARGETS, NULL);
	if (h->targets < 0)
		return -errno;
	h->counts = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "pmm_counts", sizeof(uint32_t),
				   sizeof(struct trace_counts), TRACE_NR_KINDS, NULL);
	if (h->counts < 0)
		return -errno;
	h->fault_programs = bpf_map_create(BPF_MAP_TYPE_HASH, "pmm_programs",
					   sizeof(struct fault_program_key),
					   sizeof(struct fault_program),
					   o->faults_by_program ? MAX_PROGRAMS : 1, NULL);
	return h->fault_programs < 0 ? -errno : 0;
}

static int bpf_target(void *state, pid_t pid, bool add)
{
	struct bpf_source *s = state;
	struct trace_target value = { 0 };
	uint32_t key = pid;
	int rc = add ? bpf_map_update_elem(s->shared.targets, &key, &value, BPF_ANY)
		     : bpf_map_delete_elem(s->shared.targets, &key);

	return rc ? -errno : 0;
}

static void bpf_close(void *state)
{
	struct bpf_source *s = state;

	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		bpf_group_close(&s->group[i]);
	event_ring_close(&s->ring);
	if (s->shared.events >= 0)
		close(s->shared.events);
	if (s->shared.targets >= 0)
		close(s->shared.targets);
	if (s->shared.counts >= 0)
		close(s->shared.counts);
	if (s->shared.fault_programs >= 0)
		close(s->shared.fault_programs);
	btf__free(s->kernel);
	free(s);
}

/* Why nothing can be opened at all. */
static int refuse(int rc, struct err *e)
{
	struct rights rights;
	struct rights_reason reason;

	rights_read("", &rights);
	reason = rights_why_no_bpf(&rights, rc);
	err_set(e, rc, "%s", reason.why);
	if (reason.remedy)
		err_hint(e, "%s", reason.remedy);
	return rc;
}

/* At least one group must work: the first one's cause otherwise. */
static int judge(const struct bpf_source *s, struct err *e)
{
	const struct kernel_group_state *first = NULL;

	for (int i = 0; i < KERNEL_NR_GROUPS; i++) {
		const struct kernel_group_state *state = &s->group[i].state;

		if (state->status == KERNEL_GROUP_WORKS || state->status == KERNEL_GROUP_PARTLY)
			return 0;
		if (state->status == KERNEL_GROUP_FAILED && !first)
			first = state;
	}
	err_set(e, -ENOTSUP, "%s", first ? first->why : "no event was asked for");
	if (first && *first->remedy)
		err_hint(e, "%s", first->remedy);
	return -ENOTSUP;
}

static int fill(struct bpf_source *s, const struct kernel_options *o, struct err *e)
{
	struct rights rights;
	int rc;

	config_make(&s->shared.config, o);
	s->shared.counters = o->counters ? o->counters : kernel_hardware_counters();
	s->shared.kmem_objects = o->kmem_objects ? o->kmem_objects : KERNEL_KMEM_OBJECTS;
	s->shared.libc = o->libc;
	rc = make_maps(s, o);
	if (rc)
		return refuse(rc, e);
	for (size_t i = 0; i < o->nr_pids; i++) {
		rc = bpf_target(s, o->pids[i], true);
		if (rc)
			return refuse(rc, e);
	}
	s->kernel = btf__load_vmlinux_btf();
	if (!s->kernel)
		return refuse(-ENOTSUP, e);
	s->shared.kernel = s->kernel;
	rights_read("", &rights);
	if (!rights_is_admin(&rights))
		s->shared.types = "/sys/kernel/btf/vmlinux";
	for (int i = 0; i < KERNEL_NR_GROUPS; i++)
		if (o->groups >> i & 1)
			bpf_group_open(&s->group[i], i, &s->shared);
	btf__free(s->kernel);		/* 10 MiB that loading alone needs */
	s->kernel = NULL;
	s->shared.kernel = NULL;
	rc = event_ring_open(&s->ring, s->shared.events, ring_bytes(o), MAX_RECORD);
	return rc ? refuse(rc, e) : judge(s, e);
}

static int bpf_open(const struct kernel_options *o, void **state, struct err *e)
{
	struct bpf_source *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_set(e, -ENOMEM, "out of memory");
	s->shared.events = s->shared.targets = s->shared.counts = s->shared.fault_programs = -1;
	libbpf_set_print(NULL);
	rc = fill(s, o, e);
	if (rc) {
		bpf_close(s);
		return rc;
	}
	*state = s;
	return 0;
}

static int bpf_step(void *state, kernel_take *take, void *arg)
{
	struct bpf_source *s = state;
	int rc;

	s->take = take;
	s->take_arg = arg;
	s->taken = 0;
	rc = event_ring_read(&s->ring, take_record, s);
	return rc < 0 ? rc : (int)s->taken;
}

static int table_map(const struct bpf_source *s, enum kernel_table table)
{
	const struct kernel_table_info *info = &kernel_tables[table];

	return info->group < KERNEL_NR_GROUPS ? bpf_group_map(&s->group[info->group], info->map)
					      : -1;
}

static int bpf_find(void *state, enum kernel_table table, const void *key, void *value)
{
	int fd = table_map(state, table);

	return fd < 0 || bpf_map_lookup_elem(fd, key, value) ? -ENOENT : 0;
}

static void bpf_forget(void *state, enum kernel_table table, const void *key)
{
	int fd = table_map(state, table);

	if (fd >= 0)
		bpf_map_delete_elem(fd, key);
}

static int bpf_table(void *state, enum kernel_table table, kernel_entry *entry, void *arg)
{
	struct bpf_source *s = state;
	const struct kernel_table_info *info = &kernel_tables[table];
	int fd = table_map(s, table);

	return fd < 0 ? -ENOENT : bpf_table_read(fd, info, s->shared.nr_cpus, entry, arg);
}

static int bpf_counts(void *state, struct trace_counts counts[TRACE_NR_KINDS])
{
	struct bpf_source *s = state;
	struct trace_counts *each = calloc(s->shared.nr_cpus, sizeof(*each));
	int rc = each ? 0 : -ENOMEM;

	for (uint32_t kind = 0; !rc && kind < TRACE_NR_KINDS; kind++) {
		if (bpf_map_lookup_elem(s->shared.counts, &kind, each))
			rc = -errno;
		else
			bpf_table_sum((uint64_t *)&counts[kind], (const char *)each, sizeof(*each),
				      s->shared.nr_cpus);
	}
	free(each);
	return rc;
}

static void bpf_state(void *state, enum kernel_group group, struct kernel_group_state *out)
{
	struct bpf_source *s = state;

	*out = s->group[group].state;
	out->missed = bpf_group_missed(&s->group[group]);
}

const struct kernel_source_ops bpf_source = {
	.name = "bpf",
	.open = bpf_open,
	.step = bpf_step,
	.table = bpf_table,
	.find = bpf_find,
	.forget = bpf_forget,
	.target = bpf_target,
	.counts = bpf_counts,
	.group = bpf_state,
	.close = bpf_close,
};
