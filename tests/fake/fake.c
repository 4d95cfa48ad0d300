/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Heaps from recipes, see fake.h.
 *
 * A line of a recipe is a verb and its arguments, KEY=VALUE or bare words; "#" begins a comment,
 * "..." keeps blanks in a value. Sizes take K, M, G; times 10ms, 5s, 2m, a bare number is seconds.
 * What is not given has the default in brackets.
 *
 *	process	comm=NAME [fake] pid=N [4242] ppid=N [1] exe=PATH [""] cmdline="demo -x" [""]
 *		host=NAME [""] realtime=SECONDS [1700000000] attach=TIME [0] taken=TIME [10s]
 *		end=running|exited|killed|gone|replaced [exited] status=N [0] forked|attached
 *	watch	mode=exact|sampled [exact] sample=SIZE min-size=SIZE warn-size=SIZE [0]
 *		tick=TIME [10ms] ledger=SIZE limit=SIZE slots-used=N slots=N off=N drift=N [0]
 *	totals	peak=SIZE [sum over sites] peak-at=TIME [taken] untracked-frees=N missed-frees=N
 *		skipped=N skipped-bytes=SIZE [0]
 *	drop	block-full=N site-full=N ctx-full=N nested=N module-full=N address=N bytes=SIZE
 *	module	PATH at=ADDRESS [assigned] size=SIZE [1M] bias=ADDRESS [at] load=TIME unload=TIME
 *		[0] build-id=HEX
 *	thread	NAME tid=N [pid, pid + 1, ...] start=TIME [0] ended
 *	site	STACK kind=KIND [malloc] thread=NAME [main] allocs=N [1] frees=N [0] size=SIZE [0]
 *		bytes-in=SIZE [allocs * size] bytes-out=SIZE [frees * size] peak-blocks=N [live]
 *		peak-bytes=SIZE [peak-blocks * size] max=SIZE [size] temporary=N failed=N zero=N
 *		huge=N samples-in=N samples-out=N [0] first=TIME [1s] last=TIME [first]
 *		life=TIME [1s] blocks=N [live] address=ADDRESS [assigned]
 *		A second line for the same stack adds to it. The `blocks` live ones are listed,
 *		born evenly between first and last. KIND: malloc calloc realloc reallocarray
 *		posix_memalign aligned_alloc memalign valloc pvalloc new new[] new-aligned
 *		new[]-aligned mmap other; mmap makes it a mapping site.
 *	allocator PATH arena=SIZE used=SIZE free=SIZE free-chunks=N fast-chunks=N fast-bytes=SIZE
 *		mmapped-chunks=N mmapped-bytes=SIZE top=SIZE at=TIME arenas=N [0]
 *		source=mallinfo2|memory [mallinfo2] why=changed|busy|many|other|shape|several|
 *		senseless|denied|gone|long|locked [known]
 *	mapping	mmap-failed=N mremaps=N grown=SIZE shrunk=SIZE brks=N brk=SIZE brk-peak=SIZE
 *		(mmap and munmap: from the sites)
 *	point	TIME live=SIZE blocks=N allocs=N rss=SIZE
 *	site-point TIME STACK live=SIZE blocks=N
 *	usage	why=none|denied|dear|failed pss-why=... [known] took=TIME pss-took=TIME [0]
 *	usage-point TIME threads=N minor=N major=N user=TIME system=TIME anon=SIZE file=SIZE
 *		shmem=SIZE swap=SIZE pss=SIZE
 *		[0; what goes with none that is given (threads to system, anon to swap, pss) is
 *		not known]
 *	mark	TIME kind=fork|child-exec [fork] pid=N [0] name=TEXT [""] count=N [1]
 *		last=TIME [TIME]
 *	search	copy|stopped|exit|core complete at=TIME [taken] pause=TIME took=TIME read=SIZE
 *		unread=SIZE [0]
 *	leak	STACK definite|indirect|possible|reachable blocks=N [1] bytes=SIZE [0]
 *		indirect-blocks=N indirect-bytes=SIZE [0] oldest=TIME [1s] newest=TIME [oldest]
 *		holder=STACK [none] held=N chained=N [0]
 *	check	light|guard|sampled mechanism=none|madvise|mprotect [madvise] flags=N guarded=N
 *		guarded-now=N guarded-most=N canaried=N passed=N limit=N budget=N large=N refused=N
 *		failed=N quarantined=SIZE lost=N sweeps=N [0] swept=TIME [0] left-open=N early=N
 *		unkept-large=N unkept-busy=N [0]
 *	death	signal=N fault=N map-access=N code=N sender=N status=N [0] finding=N [none]
 *		map-start=ADDRESS map-end=ADDRESS [0] by-choice
 *	finding	type=TYPE by=access|function|release|quarantine|sweep|valgrind|signal [access]
 *		access=read|write|exec place=inside|stack|static|unmapped|null|forbidden|
 *		stack-guard|past-file|no-address [unknown] kind=KIND [none] release=FUNCTION [none]
 *		guarded count=N [1] first=TIME [1s] last=TIME [first] since=TIME [0]
 *		address=ADDRESS size=SIZE block=ADDRESS block-size=SIZE other=ADDRESS [0]
 *		site=STACK [none] thread=NAME [none] alloc=STACK alloc-thread=NAME alloc-at=TIME
 *		free=STACK free-thread=NAME free-at=TIME [none, 0] parent=PID [0] function=NAME
 *		text=TEXT [""] code=HEX bytes=HEX number=N [after the one before]
 *		TYPE: overrun underrun after-free double-free bad-free mismatch realloc-freed
 *		overlap size stack-overflow uninitialised wild other crash. FUNCTION: free realloc
 *		delete delete[] delete-sized delete[]-sized delete-aligned delete[]-aligned
 *		delete-sized-aligned delete[]-sized-aligned
 *	kernel	classes=LIST unseen=LIST [all, none] why=TEXT [""] no-stacks sample=N [0] bin=TIME
 *		[100ms] complete=N stacks=N [complete] rows-lost=N bins-lost=N [0] faults=N [not
 *		counted] major=N [0]
 *	kernel-kind KIND events=N [those of its `event` lines] lost=N dropped=N [0]
 *	event	KIND STACK of=nothing|block|mapping|agent|unknown [nothing] site=STACK [none]
 *		detail=N area=AREA write present events=N [1] records=N [events] failed=N bytes=SIZE
 *		took=TIME [0] longest=TIME [took] first=TIME [1s] last=TIME [first]
 *	kernel-bin TIME KIND events=N [1] bytes=SIZE took=TIME [0]
 *		KIND is a name of `pmm trace` or a number, AREA a kind of memory: heap, stack ...
 *	generate sites=N [100] blocks=N [1000] seed=N [1] depth=N [20] modules=N [8] threads=N [4]
 *		points=N [0]
 *	deep	depth=N [1000] sites=N [1] share=N [depth]
 *		Stacks of N frames, a block of 16 bytes each, whose outermost `share` frames are
 *		the same. Where that is all, they end at its innermost frames, one shorter each.
 *
 * STACK is FRAME>FRAME>...>FRAME, outermost first; "-" is the unknown stack. FRAME is
 *	NAME		a function; it lies in a module of its own of that name, so that NAME shows
 *			in reports
 *	NAME@PATH	a function in the module PATH, at the next free address
 *	PATH+0xADDRESS	an address as in the file PATH; without a PATH a bare address in no module
 *	!truncated !no-unwind !full !unknown	the marks of enum pmm_frame_mark
 */
#include "tests/fake/fake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/base/fmt.h"
#include "tests/fake/fake_heap.h"

#define MAX_RECIPE	(16u << 20)
#define COUNT_OF(array)	(sizeof(array) / sizeof(*(array)))

static void do_process(struct fake_heap *f, struct recipe_line *l)
{
	static const char *const ends[] = { "running", "exited", "killed", "gone", "replaced" };
	struct heap *h = f->h;
	const char *status;

	recipe_replace(l, "comm", &h->comm);
	recipe_replace(l, "exe", &h->exe);
	recipe_replace(l, "cmdline", &h->cmdline);
	recipe_replace(l, "host", &h->host);
	h->pid = (uint32_t)recipe_count(l, "pid", h->pid);
	h->ppid = (uint32_t)recipe_count(l, "ppid", h->ppid);
	h->start_realtime_ns = recipe_time(l, "realtime", h->start_realtime_ns);
	h->attach_ns = recipe_time(l, "attach", h->attach_ns);
	h->taken_ns = recipe_time(l, "taken", h->taken_ns);
	h->end = recipe_choice(l, "end", ends, COUNT_OF(ends), h->end);
	status = recipe_text(l, "status");
	if (status)
		h->end_status = atoi(status);
	h->began = recipe_flag(l, "forked") ? HEAP_BEGAN_FORK :
		   recipe_flag(l, "attached") ? HEAP_BEGAN_ATTACH : HEAP_BEGAN_EXEC;
}

static void do_watch(struct fake_heap *f, struct recipe_line *l)
{
	static const char *const modes[] = { "exact", "sampled" };
	struct heap *h = f->h;

	h->mode = recipe_choice(l, "mode", modes, COUNT_OF(modes), h->mode);
	h->sample_bytes = recipe_size(l, "sample", h->sample_bytes);
	h->min_size_bytes = recipe_size(l, "min-size", h->min_size_bytes);
	h->warn_size_bytes = recipe_size(l, "warn-size", h->warn_size_bytes);
	h->tick_ns = recipe_time(l, "tick", h->tick_ns);
	h->ledger_bytes = recipe_size(l, "ledger", h->ledger_bytes);
	h->ledger_limit_bytes = recipe_size(l, "limit", h->ledger_limit_bytes);
	h->space_taken_bytes = recipe_size(l, "space-taken", h->space_taken_bytes);
	h->ledger_slots_used = recipe_count(l, "slots-used", h->ledger_slots_used);
	h->ledger_slots = recipe_count(l, "slots", h->ledger_slots);
	h->off_reason = (int)recipe_count(l, "off", (uint64_t)h->off_reason);
	h->drift_blocks = recipe_count(l, "drift", h->drift_blocks);
}

static void do_totals(struct fake_heap *f, struct recipe_line *l)
{
	struct heap *h = f->h;

	h->peak_bytes = recipe_size(l, "peak", h->peak_bytes);
	h->peak_ns = recipe_time(l, "peak-at", h->peak_ns);
	h->untracked_frees = recipe_count(l, "untracked-frees", h->untracked_frees);
	h->missed_frees = recipe_count(l, "missed-frees", h->missed_frees);
	h->skipped_allocs = recipe_count(l, "skipped", h->skipped_allocs);
	h->skipped_bytes = recipe_size(l, "skipped-bytes", h->skipped_bytes);
}

static void do_drop(struct fake_heap *f, struct recipe_line *l)
{
	static const char *const names[PMM_NR_DROPS] = { "block-full", "site-full", "ctx-full",
							 "nested", "module-full", "address" };
	struct heap *h = f->h;

	for (unsigned i = 0; i < PMM_NR_DROPS; i++)
		h->dropped[i] = recipe_count(l, names[i], h->dropped[i]);
	h->dropped_bytes = recipe_size(l, "bytes", h->dropped_bytes);
}

static void do_kmod(struct fake_heap *f, struct recipe_line *l)
{
	struct heap_kmod *k = &f->h->kmod;

	k->logged = true;
	k->over_limit = recipe_count(l, "over-limit", k->over_limit);
	k->no_memory = recipe_count(l, "no-memory", k->no_memory);
	k->overflows = recipe_count(l, "overflows", k->overflows);
	k->torn = recipe_count(l, "torn", k->torn);
	k->bad = recipe_count(l, "bad", k->bad);
	k->sites_lost = recipe_count(l, "sites-lost", k->sites_lost);
	k->replaced = recipe_count(l, "replaced", k->replaced);
	k->foreign_frees = recipe_count(l, "foreign", k->foreign_frees);
	k->double_frees = recipe_count(l, "double", k->double_frees);
	k->evicted = recipe_count(l, "evicted", k->evicted);
	k->lost_bytes = recipe_size(l, "lost", k->lost_bytes);
	k->peak_bytes = recipe_size(l, "peak", k->peak_bytes);
	k->peak_blocks = recipe_count(l, "peak-blocks", k->peak_blocks);
	k->sums = k->evicted || k->lost_bytes || k->peak_bytes;
}

static void do_module(struct fake_heap *f, struct recipe_line *l)
{
	const char *path = recipe_bare(l);
	int64_t number = path ? fake_heap_module(f, path) : 0;
	struct heap_module *m;

	if (!path)
		return;
	if (number < 0) {
		recipe_fail(l, (int)number, "no room for module '%s'", path);
		return;
	}
	m = &f->modules.v[number];
	m->start = recipe_address(l, "at", m->start);
	m->end = m->start + recipe_size(l, "size", 1 << 20);
	m->bias = recipe_address(l, "bias", m->start);
	m->load_ns = recipe_time(l, "load", 0);
	m->unload_ns = recipe_time(l, "unload", 0);
	m->build_id_len = recipe_hex(l, "build-id", m->build_id, sizeof(m->build_id));
}

static void do_thread(struct fake_heap *f, struct recipe_line *l)
{
	bool ended = recipe_flag(l, "ended");
	const char *name = recipe_bare(l);
	int64_t number = name ? fake_thread(f, l, name) : 0;
	struct heap_thread *t;

	if (l->rc)
		return;
	t = &f->threads.v[number];
	t->tid = (uint32_t)recipe_count(l, "tid", t->tid);
	t->start_ns = recipe_time(l, "start", 0);
	t->alive = !ended;
}

static void do_site(struct fake_heap *f, struct recipe_line *l)
{
	struct fake_record r = { .node = fake_stack(f, l, recipe_bare(l)) };
	const char *thread = recipe_text(l, "thread");
	uint64_t live;

	r.thread = fake_thread(f, l, thread ? thread : "main");
	r.kind = fake_kind(l, PMM_KIND_MALLOC);
	r.size_bytes = recipe_size(l, "size", 0);
	r.allocs = recipe_count(l, "allocs", 1);
	r.frees = recipe_count(l, "frees", 0);
	live = r.allocs > r.frees ? r.allocs - r.frees : 0;
	r.bytes_in = recipe_size(l, "bytes-in", r.allocs * r.size_bytes);
	r.bytes_out = recipe_size(l, "bytes-out", r.frees * r.size_bytes);
	r.peak_blocks = recipe_count(l, "peak-blocks", live);
	r.peak_bytes = recipe_size(l, "peak-bytes", r.peak_blocks * r.size_bytes);
	r.max_bytes = recipe_size(l, "max", r.size_bytes);
	r.temporary = recipe_count(l, "temporary", 0);
	r.failed = recipe_count(l, "failed", 0);
	r.zero_size = recipe_count(l, "zero", 0);
	r.huge = recipe_count(l, "huge", 0);
	r.samples_in = recipe_count(l, "samples-in", 0);
	r.samples_out = recipe_count(l, "samples-out", 0);
	r.first_ns = recipe_time(l, "first", 1000000000);
	r.last_ns = recipe_time(l, "last", r.first_ns);
	r.life_ns = recipe_time(l, "life", 1000000000);
	r.blocks = recipe_count(l, "blocks", live);
	r.address = recipe_address(l, "address", 0);
	if (r.last_ns < r.first_ns)
		recipe_fail(l, -EINVAL, "last is before first");
	if (!l->rc && fake_heap_record(f, &r))
		recipe_fail(l, -ENOMEM, "out of memory");
}

static void do_allocator(struct fake_heap *f, struct recipe_line *l)
{
	static const char *const source[] = { "mallinfo2", "memory" };
	static const char *const why[HEAP_NR_FIGURES] = {
		"known",   "changed",	"busy",	  "many", "other", "shape",
		"several", "senseless", "denied", "gone", "long",  "locked",
	};
	struct heap_allocator *a = &f->h->allocator;
	const char *path = recipe_bare(l);
	char *copy = path ? strdup(path) : NULL;

	if (!copy) {
		recipe_fail(l, -ENOMEM, "out of memory");
		return;
	}
	free(a->path);
	a->path = copy;
	a->why = (uint8_t)recipe_choice(l, "why", why, HEAP_NR_FIGURES, HEAP_FIGURES_KNOWN);
	a->valid = a->why <= HEAP_FIGURES_MANY;
	a->outside = recipe_choice(l, "source", source, COUNT_OF(source), 0);
	a->nr_arenas = recipe_count(l, "arenas", 0);
	a->taken_ns = recipe_time(l, "at", 0);
	a->arena_bytes = recipe_size(l, "arena", 0);
	a->used_bytes = recipe_size(l, "used", 0);
	a->free_bytes = recipe_size(l, "free", 0);
	a->free_chunks = recipe_count(l, "free-chunks", 0);
	a->fast_chunks = recipe_count(l, "fast-chunks", 0);
	a->fast_bytes = recipe_size(l, "fast-bytes", 0);
	a->mmapped_chunks = recipe_count(l, "mmapped-chunks", 0);
	a->mmapped_bytes = recipe_size(l, "mmapped-bytes", 0);
	a->top_bytes = recipe_size(l, "top", 0);
}

static void do_mapping(struct fake_heap *f, struct recipe_line *l)
{
	struct heap_mapping *m = &f->h->mapping;

	m->mmap_failed += recipe_count(l, "mmap-failed", 0);
	m->mremap_calls = recipe_count(l, "mremaps", m->mremap_calls);
	m->mremap_grown_bytes = recipe_size(l, "grown", m->mremap_grown_bytes);
	m->mremap_shrunk_bytes = recipe_size(l, "shrunk", m->mremap_shrunk_bytes);
	m->brk_calls = recipe_count(l, "brks", m->brk_calls);
	m->brk_growth_bytes = recipe_size(l, "brk", m->brk_growth_bytes);
	m->brk_peak_bytes = recipe_size(l, "brk-peak", m->brk_growth_bytes);
}

static uint64_t bare_time(struct recipe_line *l)
{
	const char *text = recipe_bare(l);
	uint64_t ns = 0;

	if (text && !l->rc)
		l->rc = fmt_parse_duration(text, &ns, &l->why);
	return ns;
}

static void do_point(struct fake_heap *f, struct recipe_line *l)
{
	struct heap_point p = { .time_ns = bare_time(l) };

	p.live_bytes = recipe_size(l, "live", 0);
	p.live_blocks = recipe_count(l, "blocks", 0);
	p.allocs = recipe_count(l, "allocs", 0);
	p.rss_bytes = recipe_size(l, "rss", 0);
	if (!l->rc && vec_push(&f->points, p))
		recipe_fail(l, -ENOMEM, "out of memory");
}

static void do_site_point(struct fake_heap *f, struct recipe_line *l)
{
	struct heap_site_point p = { .time_ns = bare_time(l) };
	int64_t site = fake_heap_site(f, fake_stack(f, l, recipe_bare(l)), false);

	p.site = (uint32_t)site;
	p.live_bytes = recipe_size(l, "live", 0);
	p.live_blocks = recipe_count(l, "blocks", 0);
	if (!l->rc && (site < 0 || vec_push(&f->site_points, p)))
		recipe_fail(l, -ENOMEM, "out of memory");
}

static void do_generate(struct fake_heap *f, struct recipe_line *l)
{
	struct fake_plan p;
	int rc;

	p.sites = recipe_count(l, "sites", 100);
	p.blocks = recipe_count(l, "blocks", 1000);
	p.seed = recipe_count(l, "seed", 1);
	p.depth = recipe_count(l, "depth", 20);
	p.modules = recipe_count(l, "modules", 8);
	p.threads = recipe_count(l, "threads", 4);
	p.points = recipe_count(l, "points", 0);
	if (l->rc)
		return;
	if (!p.sites || p.sites >= PMM_MAX_SITES || !p.depth || p.depth > PMM_MAX_FRAMES ||
	    !p.modules || !p.threads || p.threads > 1000 || p.modules > 1000 ||
	    p.points > 1000000) {
		recipe_fail(l, -EINVAL, "a number of 'generate' is out of range");
		return;
	}
	rc = fake_generate(f, &p);
	if (rc)
		recipe_fail(l, rc, "out of memory");
}

static const struct verb {
	const char *name;
	void (*obey)(struct fake_heap *f, struct recipe_line *l);
} verbs[] = {
	{ "process", do_process }, { "watch", do_watch },	    { "totals", do_totals },
	{ "drop", do_drop },	   { "module", do_module },	    { "thread", do_thread },
	{ "site", do_site },	   { "allocator", do_allocator },   { "mapping", do_mapping },
	{ "point", do_point },	   { "site-point", do_site_point }, { "generate", do_generate },
	{ "search", fake_search }, { "leak", fake_leak },	    { "check", fake_check },
	{ "death", fake_death },   { "finding", fake_finding },	    { "kmod", do_kmod },
	{ "kernel", fake_kernel_head }, { "kernel-kind", fake_kernel_kind },
	{ "event", fake_event },   { "kernel-bin", fake_kernel_bin },
	{ "usage", fake_usage },   { "usage-point", fake_usage_point }, { "mark", fake_mark },
	{ "deep", fake_deep },
};

static int line_obey(struct fake_heap *f, struct recipe_line *l, char *text)
{
	const struct verb *v = verbs, *end = verbs + COUNT_OF(verbs);

	if (recipe_parse(l, text) || !l->nr_words)
		return l->rc;
	while (v < end && strcmp(v->name, l->word[0].value))
		v++;
	if (v == end)
		return err_set(&l->why, -EINVAL, "unknown verb '%s'", l->word[0].value);
	v->obey(f, l);
	return recipe_done(l);
}

static int recipe_obey(struct fake_heap *f, char *recipe, struct err *e)
{
	struct recipe_line l;
	unsigned number = 0;
	char *text;

	while ((text = strsep(&recipe, "\n"))) {
		number++;
		if (line_obey(f, &l, text))
			return err_set(e, l.why.text[0] ? -EINVAL : l.rc, "line %u: %s", number,
				       l.why.text);
	}
	return 0;
}

static int fake_defaults(struct fake_heap *f)
{
	struct heap *h = f->h;

	free(h->comm);
	h->comm = strdup("fake");
	h->pid = 4242;
	h->ppid = 1;
	h->start_realtime_ns = 1700000000ull * 1000000000;
	h->taken_ns = 10000000000;
	h->end = HEAP_EXITED;
	return h->comm ? 0 : -ENOMEM;
}

int fake_make(const char *recipe, struct heap **out, struct err *e)
{
	char *copy = strdup(recipe);
	struct fake_heap f;
	int rc = 0;

	if (fake_heap_init(&f) || fake_defaults(&f) || !copy)
		rc = err_set(e, -ENOMEM, "out of memory");
	if (!rc)
		rc = recipe_obey(&f, copy, e);
	if (!rc && !f.h->peak_ns)
		f.h->peak_ns = f.h->taken_ns;
	if (!rc)
		rc = fake_heap_finish(&f, out, e);
	free(copy);
	fake_heap_fini(&f);
	return rc;
}

int fake_load(const char *path, struct heap **out, struct err *e)
{
	FILE *f = fopen(path, "re");
	char *text;
	size_t n;
	int rc;

	if (!f)
		return err_set(e, -errno, "cannot read the recipe '%s': %s", path, strerror(errno));
	text = calloc(1, MAX_RECIPE + 1);
	n = text ? fread(text, 1, MAX_RECIPE, f) : 0;
	if (!text)
		rc = err_set(e, -ENOMEM, "out of memory");
	else if (ferror(f) || n == MAX_RECIPE)
		rc = err_set(e, -EIO, "cannot read the recipe '%s'", path);
	else
		rc = fake_make(text, out, e);
	free(text);
	fclose(f);
	return rc;
}
