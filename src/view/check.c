/*
 * Heap errors as a document: the entries, each with its three places, and a head that says what was looked at.
 */
#include "src/view/check.h"

#include <errno.h>

#include "include/pmm/ledger.h"
#include "src/analyze/sizes.h"
#include "src/base/fmt.h"
#include "src/view/check_part.h"
#include "src/view/report_part.h"
#include "src/view/stack.h"

enum {
	FOUND_TYPE,
	FOUND_BY,
	FOUND_ACCESS,
	FOUND_PLACE,
	FOUND_WHAT,
	FOUND_COUNT,
	FOUND_FIRST,
	FOUND_LAST,
	FOUND_SINCE,
	FOUND_THREAD,
	FOUND_ADDRESS,
	FOUND_SIZE,
	FOUND_BLOCK,
	FOUND_BLOCK_BYTES,
	FOUND_KIND,
	FOUND_RELEASE,
	FOUND_FUNCTION,
	FOUND_OTHER,
	FOUND_GUARDED,
	FOUND_BYTES,
	FOUND_ALLOC_THREAD,
	FOUND_ALLOC_TIME,
	FOUND_FREE_THREAD,
	FOUND_FREE_TIME,
	FOUND_PARENT,
	FOUND_STACK,
	FOUND_FRAME,
	FOUND_INLINED = FOUND_FRAME + 6,
	FOUND_ROLE,
	FOUND_LABEL,
	FOUND_TAIL,
	FOUND_NR,
};

static const struct column found_columns[FOUND_NR] = {
	[FOUND_TYPE] = JSON_COLUMN("type", UNIT_TEXT),
	[FOUND_BY] = JSON_COLUMN("by", UNIT_TEXT),
	[FOUND_ACCESS] = JSON_COLUMN("access", UNIT_TEXT),
	[FOUND_PLACE] = JSON_COLUMN("place", UNIT_TEXT),
	[FOUND_WHAT] = JSON_COLUMN("what", UNIT_TEXT),
	[FOUND_COUNT] = JSON_COLUMN("count", UNIT_COUNT),
	[FOUND_FIRST] = JSON_COLUMN("first_ns", UNIT_DURATION),
	[FOUND_LAST] = JSON_COLUMN("last_ns", UNIT_DURATION),
	[FOUND_SINCE] = JSON_COLUMN("well_at_ns", UNIT_DURATION),
	[FOUND_THREAD] = JSON_COLUMN("tid", UNIT_NUMBER),
	[FOUND_ADDRESS] = JSON_COLUMN("address", UNIT_ADDRESS),
	[FOUND_SIZE] = JSON_COLUMN("size_bytes", UNIT_COUNT),
	[FOUND_BLOCK] = JSON_COLUMN("block_address", UNIT_ADDRESS),
	[FOUND_BLOCK_BYTES] = JSON_COLUMN("block_bytes", UNIT_COUNT),
	[FOUND_KIND] = JSON_COLUMN("kind", UNIT_TEXT),
	[FOUND_RELEASE] = JSON_COLUMN("release", UNIT_TEXT),
	[FOUND_FUNCTION] = JSON_COLUMN("function_called", UNIT_TEXT),
	[FOUND_OTHER] = JSON_COLUMN("other", UNIT_ADDRESS),
	[FOUND_GUARDED] = JSON_COLUMN("guarded", UNIT_BOOL),
	[FOUND_BYTES] = JSON_COLUMN("contents", UNIT_TEXT),
	[FOUND_ALLOC_THREAD] = JSON_COLUMN("allocated_tid", UNIT_NUMBER),
	[FOUND_ALLOC_TIME] = JSON_COLUMN("allocated_ns", UNIT_DURATION),
	[FOUND_FREE_THREAD] = JSON_COLUMN("freed_tid", UNIT_NUMBER),
	[FOUND_FREE_TIME] = JSON_COLUMN("freed_ns", UNIT_DURATION),
	[FOUND_PARENT] = JSON_COLUMN("parent_pid", UNIT_NUMBER),
	[FOUND_STACK] = JSON_COLUMN("stack", UNIT_TEXT),
	[FOUND_FRAME] = REPORT_FRAME_COLUMNS,
	[FOUND_INLINED] = JSON_COLUMN("inlined", UNIT_BOOL),
	[FOUND_ROLE] = JSON_COLUMN("role", UNIT_TEXT),
	[FOUND_LABEL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_LABEL },
	[FOUND_TAIL] = { NULL, NULL, UNIT_TEXT, COLUMN_TEXT_ONLY | COLUMN_TAIL },
};

static const char *const type_name[PMM_NR_FINDING_TYPES] = {
	[PMM_FINDING_NONE] = "none",
	[PMM_FINDING_OVERRUN] = "overrun",
	[PMM_FINDING_UNDERRUN] = "underrun",
	[PMM_FINDING_AFTER_FREE] = "use-after-free",
	[PMM_FINDING_DOUBLE_FREE] = "double-free",
	[PMM_FINDING_BAD_FREE] = "bad-free",
	[PMM_FINDING_MISMATCH] = "mismatched-free",
	[PMM_FINDING_REALLOC_FREED] = "realloc-after-free",
	[PMM_FINDING_OVERLAP] = "overlap",
	[PMM_FINDING_SIZE] = "size",
	[PMM_FINDING_STACK_OVERFLOW] = "stack-overflow",
	[PMM_FINDING_UNINITIALISED] = "uninitialised",
	[PMM_FINDING_WILD] = "wild-access",
	[PMM_FINDING_OTHER] = "other",
};
static const char *const by_name[PMM_NR_FINDING_BYS] = {
	[PMM_BY_ACCESS] = "access", [PMM_BY_FUNCTION] = "function", [PMM_BY_RELEASE] = "release", [PMM_BY_QUARANTINE] = "quarantine",
	[PMM_BY_SWEEP] = "sweep", [PMM_BY_VALGRIND] = "valgrind",
};
static const char *const access_name[PMM_NR_ACCESSES] = {
	[PMM_ACCESS_READ] = "read", [PMM_ACCESS_WRITE] = "write", [PMM_ACCESS_EXEC] = "execute",
};
static const char *const place_name[PMM_NR_FINDING_PLACES] = {
	[PMM_PLACE_UNKNOWN] = "unknown", [PMM_PLACE_INSIDE] = "inside", [PMM_PLACE_STACK] = "stack", [PMM_PLACE_STATIC] = "static",
	[PMM_PLACE_UNMAPPED] = "unmapped",
};

#define NAME(table, i) ((i) < sizeof(table) / sizeof(*(table)) ? (table)[i] : NULL)

/* ---- one entry ---- */

static void set_thread(struct table *t, unsigned column, const struct heap *h, uint16_t thread)
{
	if (thread != HEAP_NO_THREAD)
		table_set(t, column, h->threads[thread].tid);
}

static void set_bytes(struct table *t, const struct heap_finding *f)
{
	struct str s = STR_INIT;

	for (unsigned i = 0; i < f->nr_bytes; i++)
		str_addf(&s, "%02x", f->bytes[i]);
	table_set_text(t, FOUND_BYTES, str_text(&s));
	str_fini(&s);
}

static void set_block(struct table *t, const struct heap *h, const struct heap_finding *f)
{
	table_set(t, FOUND_BLOCK, f->block);
	table_set(t, FOUND_BLOCK_BYTES, f->block_bytes);
	table_set(t, FOUND_GUARDED, f->guarded);
	if (f->kind)
		table_set_const(t, FOUND_KIND, kind_name(f->kind));
	if (f->alloc_site != HEAP_NO_SITE || f->alloc_ns) {
		set_thread(t, FOUND_ALLOC_THREAD, h, f->alloc_thread);
		table_set(t, FOUND_ALLOC_TIME, report_time(h, f->alloc_ns));
	}
	if (f->free_site != HEAP_NO_SITE) {
		set_thread(t, FOUND_FREE_THREAD, h, f->free_thread);
		table_set(t, FOUND_FREE_TIME, report_time(h, f->free_ns));
	}
	if (f->parent_pid)
		table_set(t, FOUND_PARENT, f->parent_pid);
}

static void set_figures(struct table *t, const struct check_view *v, const struct heap_finding *f, unsigned access_bytes)
{
	const struct heap *h = v->heap;

	table_set_const(t, FOUND_TYPE, NAME(type_name, f->type));
	table_set_const(t, FOUND_BY, NAME(by_name, f->by));
	if (f->access)
		table_set_const(t, FOUND_ACCESS, NAME(access_name, f->access));
	if (f->type == PMM_FINDING_BAD_FREE)
		table_set_const(t, FOUND_PLACE, NAME(place_name, f->place));
	table_set(t, FOUND_COUNT, f->count);
	table_set(t, FOUND_FIRST, report_time(h, f->first_ns));
	table_set(t, FOUND_LAST, report_time(h, f->last_ns));
	if (f->since_ns)
		table_set(t, FOUND_SINCE, report_time(h, f->since_ns));
	set_thread(t, FOUND_THREAD, h, f->thread);
	if (f->address)
		table_set(t, FOUND_ADDRESS, f->address);
	if (f->size_bytes || access_bytes)
		table_set(t, FOUND_SIZE, f->size_bytes ? f->size_bytes : access_bytes);
	if (f->block)
		set_block(t, h, f);
	if (f->release)
		table_set_const(t, FOUND_RELEASE, check_release_text(f->release));
	if (f->function[0])
		table_set_text(t, FOUND_FUNCTION, f->function);
	if (f->other)
		table_set(t, FOUND_OTHER, f->other);
	if (v->opt.bytes && f->nr_bytes)
		set_bytes(t, f);
}

static void detail(struct table *t, struct str *s)
{
	table_wrap(t, FOUND_LABEL, str_text(s), CHECK_LINE_WIDTH, 1, ROW_DIM, false);
	str_clear(s);
}

/* "thread 4711 (worker)"; false: not known. */
static bool add_thread(struct str *s, const struct heap *h, uint16_t thread)
{
	if (thread == HEAP_NO_THREAD)
		return false;
	str_addf(s, "thread %u", h->threads[thread].tid);
	if (h->threads[thread].name[0])
		str_addf(s, " (%s)", h->threads[thread].name);
	return true;
}

/* Who had a hand in the block's past, and how long before it came to light; Valgrind does not say when. */
static void add_past(struct str *s, const struct heap *h, const struct heap_finding *f, uint16_t thread, uint64_t ns)
{
	uint64_t before = f->first_ns > ns ? f->first_ns - ns : 0;

	if (thread != HEAP_NO_THREAD) {
		str_add(s, " by ");
		if (thread == f->thread)
			str_add(s, "the same thread");
		else
			add_thread(s, h, thread);
	}
	if (f->by != PMM_BY_VALGRIND && before < h->tick_ns)
		str_addf(s, ", less than %s before", fmt_duration(h->tick_ns).s);
	else if (f->by != PMM_BY_VALGRIND)
		str_addf(s, ", %s before", fmt_duration(before).s);
	str_addc(s, ':');
}

static bool has_stack(const struct check_view *v, uint32_t site)
{
	return site != HEAP_NO_SITE && site < v->heap->nr_sites && v->heap->sites[site].node;
}

static void add_stack(struct table *t, struct check_view *v, uint32_t site, const char *which)
{
	const struct stack_columns columns = {
		.frame = FOUND_FRAME, .inlined = FOUND_INLINED, .role = FOUND_ROLE, .label = FOUND_LABEL, .depth = 2,
		.which = which, .which_column = FOUND_STACK,
	};

	if (has_stack(v, site)) {
		stack_add(t, v->names, v->heap->sites[site].node, NULL, v->opt.depth, " (--depth 0 shows all)", &columns);
	} else {
		table_row(t, 2, ROW_DIM, ROW_TEXT_ONLY);
		table_set_const(t, FOUND_LABEL, "[stack unknown]");
	}
}

static void add_where(struct table *t, struct check_view *v, const struct heap_finding *f)
{
	const struct heap *h = v->heap;
	struct str s = STR_INIT;

	if (v->opt.no_head)		/* among the output of other processes */
		str_addf(&s, "%s, pid %u, ", h->comm[0] ? h->comm : h->cmdline, h->pid);
	if (add_thread(&s, h, f->thread))
		str_add(&s, ", ");
	str_addf(&s, "%s after the start", fmt_duration(report_time(h, f->first_ns)).s);
	if (f->count > 1 && f->by != PMM_BY_VALGRIND && f->last_ns < f->first_ns + h->tick_ns)
		str_addf(&s, "; %s times within %s", fmt_count(f->count).s, fmt_duration(h->tick_ns).s);
	else if (f->count > 1)
		str_addf(&s, "; %s times, the last %s later", fmt_count(f->count).s,
			 fmt_duration(f->last_ns > f->first_ns ? f->last_ns - f->first_ns : 0).s);
	str_addc(&s, ':');
	detail(t, &s);
	str_fini(&s);
	add_stack(t, v, f->site, "error");
}

/* Of a sweep the sentence before has said when. */
static void add_swept(struct table *t, const struct check_view *v, const struct heap_finding *f)
{
	const struct heap *h = v->heap;
	struct str s = STR_INIT;

	if (v->opt.no_head)
		str_addf(&s, "%s, pid %u", h->comm[0] ? h->comm : h->cmdline, h->pid);
	if (f->count > 1)
		str_addf(&s, "%s%s such blocks", s.len ? "; " : "", fmt_count(f->count).s);
	if (s.len)
		detail(t, &s);
	str_fini(&s);
}

static void add_history(struct table *t, struct check_view *v, const struct heap_finding *f)
{
	const struct heap *h = v->heap;
	struct str s = STR_INIT;

	if (f->parent_pid) {
		str_addf(&s, "the block was allocated before the fork, by process %u", f->parent_pid);
		detail(t, &s);
	} else if (f->alloc_site != HEAP_NO_SITE) {
		str_add(&s, "the block ");
		if (f->block)
			str_addf(&s, "at 0x%llx ", (unsigned long long)f->block);
		str_add(&s, "was allocated");
		if (f->kind)
			str_addf(&s, " with %s", kind_name(f->kind));
		add_past(&s, h, f, f->alloc_thread, f->alloc_ns);
		detail(t, &s);
		add_stack(t, v, f->alloc_site, "allocated");
	}
	if (f->free_site != HEAP_NO_SITE) {
		str_add(&s, "it was freed");
		add_past(&s, h, f, f->free_thread, f->free_ns);
		detail(t, &s);
		add_stack(t, v, f->free_site, "freed");
	}
	str_fini(&s);
}

static void add_contents(struct table *t, const struct heap_finding *f)
{
	struct str s = STR_INIT;

	str_addf(&s, "now at 0x%llx:", (unsigned long long)f->address);
	for (unsigned i = 0; i < f->nr_bytes; i++)
		str_addf(&s, "%s%02x", i % 8 ? "" : " ", f->bytes[i]);
	detail(t, &s);
	str_fini(&s);
}

/* An empty line between entries. */
static void separate(struct table *t, uint64_t i)
{
	if (!i)
		return;
	table_row(t, 0, ROW_PLAIN, ROW_TEXT_ONLY);
	table_set_const(t, FOUND_LABEL, "");
}

static void fill(struct table *t, uint64_t i)
{
	struct check_view *v = t->ctx;
	const struct heap_finding *f = &v->heap->findings[v->opt.from + i];
	unsigned access_bytes = f->nr_code && v->opt.access_bytes ? v->opt.access_bytes(f->code, f->nr_code) : 0;
	struct str title = STR_INIT, what = STR_INIT;

	separate(t, i);
	if (v->opt.no_head)		/* among the program's own output */
		str_add(&title, "pmm: ");
	check_title(&title, v->names, f);
	check_headline(&what, v->heap, f, access_bytes);
	table_row(t, 0, ROW_STRONG, ROW_BOTH);
	set_figures(t, v, f, access_bytes);
	table_set_text(t, FOUND_WHAT, str_text(&what));
	table_wrap(t, FOUND_LABEL, str_text(&title), CHECK_LINE_WIDTH, 0, ROW_STRONG, true);
	table_wrap(t, FOUND_LABEL, str_text(&what), CHECK_LINE_WIDTH, 1, ROW_PLAIN, false);
	str_fini(&title);
	str_fini(&what);
	if (f->by == PMM_BY_SWEEP)
		add_swept(t, v, f);
	else
		add_where(t, v, f);
	if (v->opt.bytes && f->nr_bytes)
		add_contents(t, f);
	add_history(t, v, f);
}

/* ---- the whole ---- */

static void add_entries(struct check_view *v)
{
	uint64_t nr = v->heap->nr_findings > v->opt.from ? v->heap->nr_findings - v->opt.from : 0;
	uint64_t shown = v->opt.top && nr > v->opt.top ? v->opt.top : nr;
	struct table *t = table_new(TABLE_TREE, "findings", NULL, found_columns, FOUND_NR);

	if (t) {
		t->children_key = "frames";
		t->ctx = v;
		t->fill = fill;
		t->nr_groups = shown;
		t->json_only = !nr;
		if (shown < nr)
			table_note(t, "%s more (--top 0 shows all)", fmt_count(nr - shown).s);
	}
	doc_add(&v->doc, t);
}

int check_view_init(struct check_view *v, const struct heap *h, struct names *n, const struct check_view_options *o)
{
	*v = (struct check_view){ .heap = h, .names = n, .opt = *o, .doc.schema = CHECK_SCHEMA };
	if (!o->no_head)
		check_head(v);
	add_entries(v);
	return doc_error(&v->doc);
}

void check_view_fini(struct check_view *v)
{
	doc_fini(&v->doc);
}
