/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap made up by hand, see fake_heap.h. Lookups are linear: recipes are short.
 */
#include "tests/fake/fake_heap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/model/heap_lifetimes.h"

#define MODULE_BASE    0x400000ull
#define MODULE_BYTES   0x100000ull
#define FUNCTION_BYTES 0x40ull
#define HEAP_BASE      0x555555000010ull
#define MAP_BASE       0x7f0000000000ull

int fake_heap_init(struct fake_heap *f)
{
	memset(f, 0, sizeof(*f));
	f->next_address = HEAP_BASE;
	f->next_map = MAP_BASE;
	f->h = heap_new();
	if (!f->h || fake_heap_module(f, "") || vec_push(&f->nodes, (struct heap_node){0}) ||
	    vec_push(&f->sites, (struct heap_site){0}) ||
	    vec_push(&f->map_sites, (struct heap_site){0}))
		return -ENOMEM;
	f->h->tick_ns = PMM_TICK_NS;
	return 0;
}

void fake_heap_fini(struct fake_heap *f)
{
	vec_each (&f->modules, m)
		free(m->path);
	vec_each (&f->functions, p)
		free(p->name);
	vec_fini(&f->modules);
	vec_fini(&f->nodes);
	vec_fini(&f->sites);
	vec_fini(&f->map_sites);
	vec_fini(&f->blocks);
	vec_fini(&f->maps);
	vec_fini(&f->threads);
	vec_fini(&f->points);
	vec_fini(&f->site_points);
	vec_fini(&f->usage_points);
	vec_fini(&f->marks);
	vec_fini(&f->leaks);
	vec_each(&f->findings, x)
		free(x->text);
	vec_fini(&f->findings);
	vec_fini(&f->kernel_kinds);
	vec_fini(&f->kernel_rows);
	vec_fini(&f->kernel_bins);
	vec_fini(&f->functions);
	heap_free(f->h);
	f->h = NULL;
}

int64_t fake_heap_module(struct fake_heap *f, const char *path)
{
	struct heap_module m = {0};

	for (size_t i = 1; i < f->modules.nr; i++)
		if (!strcmp(f->modules.v[i].path, path))
			return (int64_t)i;
	if (f->modules.nr >= PMM_MAX_MODULES)
		return -E2BIG;
	if (f->modules.nr) {
		m.start = m.bias = MODULE_BASE + MODULE_BYTES * f->modules.nr;
		m.end = m.start + MODULE_BYTES;
	}
	m.path = strdup(path);
	if (!m.path)
		return -ENOMEM;
	if (vec_push(&f->modules, m)) {
		free(m.path);
		return -ENOMEM;
	}
	return (int64_t)f->modules.nr - 1;
}

int64_t fake_heap_thread(struct fake_heap *f, const char *name)
{
	struct heap_thread t = {.alive = true};

	snprintf(t.name, sizeof(t.name), "%s", name);
	for (size_t i = 0; i < f->threads.nr; i++)
		if (!strcmp(f->threads.v[i].name, t.name))
			return (int64_t)i;
	if (f->threads.nr >= PMM_MAX_THREADS)
		return -E2BIG;
	t.tid = f->h->pid + (uint32_t)f->threads.nr;
	return vec_push(&f->threads, t) ? -ENOMEM : (int64_t)f->threads.nr - 1;
}

/* Number of the child of `parent` with this frame, added if new; -ENOMEM. */
static int64_t node_of(struct fake_heap *f, uint32_t parent, uint32_t module, uint64_t pc)
{
	struct heap_node n = {.pc = pc, .parent = parent, .module = module};

	for (size_t i = parent + 1; i < f->nodes.nr; i++)
		if (!memcmp(&f->nodes.v[i], &n, sizeof(n)))
			return (int64_t)i;
	return vec_push(&f->nodes, n) ? -ENOMEM : (int64_t)f->nodes.nr - 1;
}

/*
 * The address of a named function: in a module of its own, or the next free one of the module
 * named.
 */
static int function_find(struct fake_heap *f, const char *name, const char *path,
			 struct fake_function *out)
{
	struct fake_function fn = {0};
	int64_t module = fake_heap_module(f, path ? path : name);
	uint64_t taken = 0;

	if (module < 0)
		return (int)module;
	vec_each (&f->functions, p) {
		if (p->module != module)
			continue;
		taken++;
		if (!strcmp(p->name, name)) {
			*out = *p;
			return 0;
		}
	}
	fn.module = (uint32_t)module;
	fn.pc = f->modules.v[module].start + FUNCTION_BYTES * taken + 0x10;
	fn.name = strdup(name);
	if (!fn.name || vec_push(&f->functions, fn)) {
		free(fn.name);
		return -ENOMEM;
	}
	*out = fn;
	return 0;
}

static int frame_mark(const char *text, uint64_t *pc)
{
	static const char *const mark[] = {"!unknown", "!truncated", "!no-unwind", "!full"};

	for (size_t i = 0; i < sizeof(mark) / sizeof(*mark); i++)
		if (!strcmp(text, mark[i])) {
			*pc = i;
			return 0;
		}
	return -EINVAL;
}

/* One frame of a recipe -> module and pc. */
static int frame_parse(struct fake_heap *f, char *text, struct fake_function *out, struct err *e)
{
	char *plus = strstr(text, "+0x"), *at = strrchr(text, '@'), *end;
	int64_t module;
	int rc;

	memset(out, 0, sizeof(*out));
	if (text[0] == '!')
		return frame_mark(text, &out->pc) ? err_set(e, -EINVAL, "unknown mark '%s'", text)
						  : 0;
	if (!plus) {
		if (at)
			*at++ = '\0';
		if (!*text)
			return err_set(e, -EINVAL, "a frame has no name");
		rc = function_find(f, text, at, out);
		return rc ? err_set(e, rc, "no room for function '%s'", text) : 0;
	}
	*plus = '\0';
	out->pc = strtoull(plus + 1, &end, 16);
	if (*end)
		return err_set(e, -EINVAL, "'%s' is not an address", plus + 1);
	if (!*text)
		return 0;
	module = fake_heap_module(f, text);
	if (module < 0)
		return err_set(e, (int)module, "no room for module '%s'", text);
	out->module = (uint32_t)module;
	out->pc += f->modules.v[module].bias;
	return 0;
}

int64_t fake_heap_stack(struct fake_heap *f, const char *text, struct err *e)
{
	struct fake_function frame;
	char *copy, *next, *part;
	int64_t node = 0;

	if (!strcmp(text, "-"))
		return 0;
	copy = strdup(text);
	if (!copy)
		return err_set(e, -ENOMEM, "out of memory");
	for (next = copy; node >= 0 && (part = strsep(&next, ">"));) {
		int rc = frame_parse(f, part, &frame, e);

		node = rc ? rc : node_of(f, (uint32_t)node, frame.module, frame.pc);
	}
	free(copy);
	return node;
}

int64_t fake_heap_site(struct fake_heap *f, uint32_t node, bool mapping)
{
	struct heap_site new_site = {.node = node};
	struct heap_site *v = mapping ? f->map_sites.v : f->sites.v;
	size_t nr = mapping ? f->map_sites.nr : f->sites.nr;

	for (size_t i = 0; i < nr; i++)
		if (v[i].node == node)
			return (int64_t)i;
	if (mapping ? vec_push(&f->map_sites, new_site) : vec_push(&f->sites, new_site))
		return -ENOMEM;
	return (int64_t)nr;
}

static unsigned lifetime_bucket(uint64_t ns, uint64_t tick_ns)
{
	uint64_t ticks = tick_ns ? ns / tick_ns : 0;
	unsigned k = 0;

	while (ticks && k < HEAP_NR_LIFETIMES - 1) {
		k++;
		ticks >>= 1;
	}
	return k;
}

static int count_site(struct heap *h, struct heap_site *s, const struct fake_record *r)
{
	bool fresh = !s->allocs;

	s->allocs += r->allocs;
	s->frees += r->frees;
	s->bytes_in += r->bytes_in;
	s->bytes_out += r->bytes_out;
	s->live_blocks = (int64_t)(s->allocs - s->frees);
	s->live_bytes = (int64_t)(s->bytes_in - s->bytes_out);
	s->peak_blocks += (int64_t)r->peak_blocks;
	s->peak_bytes += (int64_t)r->peak_bytes;
	s->temporary += r->temporary;
	s->failed += r->failed;
	s->zero_size += r->zero_size;
	s->huge += r->huge;
	s->samples_in += r->samples_in;
	s->samples_out += r->samples_out;
	if (r->max_bytes > s->max_bytes)
		s->max_bytes = r->max_bytes;
	if (fresh || r->first_ns < s->first_ns)
		s->first_ns = r->first_ns;
	if (fresh || r->last_ns > s->last_ns)
		s->last_ns = r->last_ns;
	s->at_once += r->temporary;
	if (r->frees > r->temporary) {
		uint64_t *to = heap_lifetime_at(h, s, lifetime_bucket(r->life_ns, h->tick_ns));

		if (!to)
			return -ENOMEM;
		*to += r->frees - r->temporary;
	}
	return 0;
}

static void count_heap(struct fake_heap *f, const struct fake_record *r)
{
	struct heap_class *class = &f->h->class[heap_class_of(r->size_bytes)];
	struct heap *h = f->h;

	class->calls[r->kind] += r->allocs;
	class->frees += r->frees;
	class->bytes_in += r->bytes_in;
	class->bytes_out += r->bytes_out;
	class->failed += r->failed;
	h->allocs += r->allocs;
	h->frees += r->frees;
	h->bytes_in += r->bytes_in;
	h->bytes_out += r->bytes_out;
	h->temporary += r->temporary;
	h->failed += r->failed;
	h->zero_size += r->zero_size;
	h->huge += r->huge;
	f->peak_bytes += r->peak_bytes;
	if (r->thread < f->threads.nr) {
		struct heap_thread *t = &f->threads.v[r->thread];

		t->allocs += r->allocs;
		t->frees += r->frees;
		t->bytes_in += r->bytes_in;
		t->bytes_out += r->bytes_out;
	}
}

static int list_blocks(struct fake_heap *f, const struct fake_record *r, uint32_t site)
{
	bool mapping = r->kind == PMM_KIND_MMAP;
	uint64_t *next = mapping ? &f->next_map : &f->next_address;
	uint64_t room =
		mapping ? (r->size_bytes + 4095) & ~4095ull : (r->size_bytes + 8 + 15) & ~15ull;
	struct heap_block b = {
		.size_bytes = r->size_bytes, .site = site, .thread = r->thread, .kind = r->kind};

	if (!mapping && room < 32)
		room = 32;
	if (r->address)
		*next = r->address;
	for (uint64_t i = 0; i < r->blocks; i++) {
		b.address = *next;
		b.birth_ns = r->first_ns;
		if (r->blocks > 1)
			b.birth_ns += (uint64_t)((unsigned __int128)(r->last_ns - r->first_ns) * i /
						 (r->blocks - 1));
		*next += room;
		if (mapping ? vec_push(&f->maps, b) : vec_push(&f->blocks, b))
			return -ENOMEM;
	}
	return 0;
}

int fake_heap_record(struct fake_heap *f, const struct fake_record *r)
{
	int64_t site = fake_heap_site(f, r->node, r->kind == PMM_KIND_MMAP);

	return site < 0 ? -ENOMEM : fake_heap_record_at(f, r, (uint32_t)site);
}

int fake_heap_record_at(struct fake_heap *f, const struct fake_record *r, uint32_t site)
{
	bool mapping = r->kind == PMM_KIND_MMAP;

	if (count_site(f->h, mapping ? &f->map_sites.v[site] : &f->sites.v[site], r))
		return -ENOMEM;
	if (!mapping) {
		count_heap(f, r);
	} else {
		f->h->mapping.mmap_calls += r->allocs;
		f->h->mapping.mmap_bytes += r->bytes_in;
		f->h->mapping.mmap_failed += r->failed;
		f->h->mapping.munmap_calls += r->frees;
		f->h->mapping.munmap_bytes += r->bytes_out;
	}
	return list_blocks(f, r, site);
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct heap_block *)a)->address;
	uint64_t y = ((const struct heap_block *)b)->address;

	return (x > y) - (x < y);
}

/* Move a vector's elements to the heap, in place of the (empty) array there. */
#define HAND_OVER(f, field)                                                                        \
	do {                                                                                       \
		free((f)->h->field);                                                               \
		(f)->h->field = (f)->field.v;                                                      \
		(f)->h->nr_##field = (__typeof__((f)->h->nr_##field))(f)->field.nr;                \
		(f)->field.v = NULL;                                                               \
		(f)->field.nr = (f)->field.room = 0;                                               \
	} while (0)

int fake_heap_finish(struct fake_heap *f, struct heap **out, struct err *e)
{
	struct heap *h = f->h;
	char why[200];

	if (!f->threads.nr && fake_heap_thread(f, "main") < 0)
		return err_set(e, -ENOMEM, "out of memory");
	vec_sort(&f->blocks, by_address);
	vec_sort(&f->maps, by_address);
	vec_sort(&f->leaks, heap_leak_order);
	h->live_blocks = h->allocs - h->frees;
	h->live_bytes = h->bytes_in - h->bytes_out;
	if (!h->peak_bytes)
		h->peak_bytes = f->peak_bytes;
	free(h->modules[0].path);
	h->nr_modules = 0;
	HAND_OVER(f, modules);
	HAND_OVER(f, nodes);
	HAND_OVER(f, sites);
	HAND_OVER(f, map_sites);
	HAND_OVER(f, blocks);
	HAND_OVER(f, maps);
	HAND_OVER(f, threads);
	HAND_OVER(f, points);
	HAND_OVER(f, site_points);
	HAND_OVER(f, usage_points);
	HAND_OVER(f, marks);
	HAND_OVER(f, leaks);
	HAND_OVER(f, findings);
	HAND_OVER(f, kernel_kinds);
	HAND_OVER(f, kernel_rows);
	HAND_OVER(f, kernel_bins);
	if (heap_check(h, why, sizeof(why)))
		return err_set(e, -EINVAL, "the recipe makes no heap: %s", why);
	*out = h;
	f->h = NULL;
	return 0;
}
