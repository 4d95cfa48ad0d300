/* Valgrind's XML, read with expat. */
#include "src/capture/valgrind.h"

#include <ctype.h>
#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/arena.h"
#include "src/base/hash.h"
#include "src/base/str.h"
#include "src/base/vec.h"
#include "src/capture/valgrind_words.h"

#define MAX_TEXT	(64u << 10)	/* of one element; the rest is cut */
#define MAX_DEPTH	32
#define MAX_STACKS	4		/* of one error */

/* The elements that matter; all others are OTHER. */
enum element {
	OTHER, OUTPUT, ARGV, EXE, ARG, PID, STATUS, STATE, ERROR, UNIQUE, TID, KIND, WHAT, XWHAT, TEXT, AUXWHAT, STACK, FRAME, IP, OBJ,
	FN, DIR, FILE_, LINE, ERRORCOUNTS, PAIR, COUNT, PPID, THREADNAME, NR_ELEMENTS,
};

static const char *const element_name[NR_ELEMENTS] = {
	[OUTPUT] = "valgrindoutput", [ARGV] = "argv", [EXE] = "exe", [ARG] = "arg", [PID] = "pid", [STATUS] = "status", [STATE] = "state",
	[ERROR] = "error", [UNIQUE] = "unique", [TID] = "tid", [KIND] = "kind", [WHAT] = "what", [XWHAT] = "xwhat", [TEXT] = "text",
	[AUXWHAT] = "auxwhat", [STACK] = "stack", [FRAME] = "frame", [IP] = "ip", [OBJ] = "obj", [FN] = "fn", [DIR] = "dir",
	[FILE_] = "file", [LINE] = "line", [ERRORCOUNTS] = "errorcounts", [PAIR] = "pair", [COUNT] = "count",
	[PPID] = "ppid", [THREADNAME] = "threadname",
};

struct frame {
	uint64_t ip;
	struct valgrind_frame name;
};

/* One stack, with what was said before it. */
struct stack {
	VEC(struct frame) frames;
	char *before;			/* "" = nothing */
};

struct node_names {
	uint32_t first, nr;		/* in v->names */
};

struct valgrind {
	XML_Parser parser;
	struct heap *heap;
	struct arena text;		/* strings of names */
	VEC(struct valgrind_frame) names;
	VEC(struct node_names) by_node;
	struct hash_map nodes;		/* parent and address, scrambled -> node */
	struct hash_map sites;		/* node -> site */
	struct hash_map errors;		/* unique -> finding */
	struct str cmdline, exe;
	uint64_t now_ns;
	int rc;				/* trouble with memory */
	bool ended, seen_root;

	enum element open[MAX_DEPTH];	/* the elements we are in; the first is the outermost */
	unsigned depth;
	struct str chars;		/* of the innermost */

	/* the error being read */
	struct str kind, what, aux, thread_name;
	uint64_t unique;
	uint32_t tid;
	struct stack stack[MAX_STACKS];
	unsigned nr_stacks;
	struct frame frame;
	struct str dir;
	uint64_t count;
};

/* ---- stacks into the heap ---- */

static const char *keep(struct valgrind *v, const char *text)
{
	char *copy = *text ? arena_strdup(&v->text, text) : NULL;

	if (*text && !copy)
		v->rc = -ENOMEM;
	return copy;
}

/* One more element, zeroed, at the end of an array of the heap. Its index; 0 = out of memory. */
#define GROW(v, array, nr) ({							\
	__typeof__((v)->heap->array) new_ = realloc((v)->heap->array, ((size_t)(v)->heap->nr + 1) * sizeof(*new_));	\
	if (new_) {								\
		(v)->heap->array = new_;					\
		new_[(v)->heap->nr] = (__typeof__(*new_)){ 0 };			\
	} else {								\
		(v)->rc = -ENOMEM;						\
	}									\
	new_ ? (v)->heap->nr++ : 0;						\
})

/* The node of `nr` frames with one address: an inlined function and those it is inlined into. 0 = out of memory. */
static uint32_t node_of(struct valgrind *v, uint32_t parent, const struct frame *f, uint32_t nr)
{
	uint64_t key = hash_u64(f->ip) ^ parent;
	struct node_names names = { (uint32_t)v->names.nr, nr };
	uint32_t *known = hash_find(&v->nodes, key), node;

	if (known)
		return *known;
	node = GROW(v, nodes, nr_nodes);
	if (!node)
		return 0;
	v->heap->nodes[node].parent = parent;
	v->heap->nodes[node].pc = f->ip;
	if (vec_resize(&v->by_node, node + 1u) || hash_put(&v->nodes, key, node))
		v->rc = -ENOMEM;
	else
		v->by_node.v[node] = names;
	for (uint32_t i = 0; i < nr; i++)
		if (vec_push(&v->names, f[i].name))
			v->rc = -ENOMEM;
	return v->rc ? 0 : node;
}

/* Without the innermost `skip` frames. */
static uint32_t site_of(struct valgrind *v, const struct stack *s, size_t skip)
{
	uint32_t node = 0, site, *known;

	for (size_t end = s->frames.nr; end > skip && !v->rc;) {	/* the outermost is the last */
		size_t from = end - 1;

		while (from > skip && s->frames.v[from - 1].ip == s->frames.v[from].ip)
			from--;
		node = node_of(v, node, &s->frames.v[from], (uint32_t)(end - from));
		end = from;
	}
	if (!node)
		return HEAP_NO_SITE;
	known = hash_find(&v->sites, node);
	if (known)
		return *known;
	site = GROW(v, sites, nr_sites);
	if (!site || hash_put(&v->sites, node, site)) {
		v->rc = -ENOMEM;
		return HEAP_NO_SITE;
	}
	v->heap->sites[site].node = node;
	v->heap->sites[site].number = site;
	return site;
}

static uint16_t thread_of(struct valgrind *v, uint32_t tid)
{
	for (uint32_t i = 0; i < v->heap->nr_threads; i++)
		if (v->heap->threads[i].tid == tid)
			return (uint16_t)i;
	if (v->heap->nr_threads >= HEAP_NO_THREAD)
		return HEAP_NO_THREAD;
	GROW(v, threads, nr_threads);
	if (v->rc)
		return HEAP_NO_THREAD;
	v->heap->threads[v->heap->nr_threads - 1].tid = tid;
	snprintf(v->heap->threads[v->heap->nr_threads - 1].name, sizeof(v->heap->threads->name), "%s", str_text(&v->thread_name));
	return (uint16_t)(v->heap->nr_threads - 1);
}

/* ---- an error ---- */

/* Functions that Valgrind put in the place of the program's. Their number in front of a stack that goes on behind them. */
static size_t replaced(struct heap_finding *f, enum valgrind_stack which, const struct stack *s)
{
	size_t nr = 0;

	for (; nr + 1 < s->frames.nr; nr++) {
		const struct valgrind_frame *name = &s->frames.v[nr].name;

		if (!name->object || !strstr(name->object, "/vgpreload_"))
			break;
		if (!nr && name->function)
			valgrind_function(f, which, name->function);
	}
	return nr;
}

/* In Valgrind's words: where what was accessed is, when that is no block. */
static char *words(const struct valgrind *v, const struct heap_finding *f)
{
	const char *aux = str_text(&v->aux);
	char *text = NULL;

	if (f->block || !*aux)
		return strdup(str_text(&v->what));
	return asprintf(&text, "%s: %c%s", str_text(&v->what), tolower((unsigned char)*aux), aux + 1) < 0 ? NULL : text;
}

static void add_error(struct valgrind *v)
{
	struct heap_finding f = {
		.by = PMM_BY_VALGRIND, .count = 1, .first_ns = v->now_ns, .last_ns = v->now_ns, .site = HEAP_NO_SITE,
		.alloc_site = HEAP_NO_SITE, .free_site = HEAP_NO_SITE, .alloc_thread = HEAP_NO_THREAD, .free_thread = HEAP_NO_THREAD,
		.thread = thread_of(v, v->tid), .number = (uint32_t)v->heap->nr_findings,
	};

	valgrind_classify(&f, str_text(&v->kind), str_text(&v->what));
	for (unsigned i = 0; i < v->nr_stacks; i++) {
		enum valgrind_stack which = i ? valgrind_note(&f, v->stack[i].before) : VALGRIND_ERROR;
		uint32_t site = site_of(v, &v->stack[i], replaced(&f, which, &v->stack[i]));

		switch (which) {
		case VALGRIND_ERROR:
			f.site = site;
			break;
		case VALGRIND_ALLOCATED:
			f.alloc_site = site;
			break;
		case VALGRIND_FREED:
			f.free_site = site;
			break;
		case VALGRIND_NOTHING:
			break;
		}
	}
	valgrind_note(&f, str_text(&v->aux));
	f.text = words(v, &f);
	if (!f.text || v->rc || hash_put(&v->errors, v->unique, (uint32_t)v->heap->nr_findings)) {
		v->rc = -ENOMEM;
		free(f.text);
		return;
	}
	GROW(v, findings, nr_findings);
	if (v->rc)
		free(f.text);
	else
		v->heap->findings[v->heap->nr_findings - 1] = f;
}

static void forget_error(struct valgrind *v)
{
	for (unsigned i = 0; i < MAX_STACKS; i++) {
		vec_fini(&v->stack[i].frames);
		free(v->stack[i].before);
		v->stack[i].before = NULL;
	}
	v->nr_stacks = 0;
	v->unique = v->tid = 0;
	str_clear(&v->kind);
	str_clear(&v->what);
	str_clear(&v->aux);
	str_clear(&v->thread_name);
}

/* ---- elements ---- */

static enum element element_of(const char *name)
{
	for (unsigned i = 1; i < NR_ELEMENTS; i++)
		if (!strcmp(element_name[i], name))
			return (enum element)i;
	return OTHER;
}

/* The element around the innermost by `up`. */
static enum element around(const struct valgrind *v, unsigned up)
{
	return v->depth > up ? v->open[v->depth - 1 - up] : OTHER;
}

static void on_start(void *arg, const char *name, const char **attributes)
{
	struct valgrind *v = arg;
	enum element e = element_of(name);

	(void)attributes;
	if (!v->depth)
		v->seen_root = e == OUTPUT;
	if (v->depth == MAX_DEPTH || !v->seen_root) {
		XML_StopParser(v->parser, false);
		return;
	}
	v->open[v->depth++] = e;
	str_clear(&v->chars);
	if (e == ERROR && around(v, 1) == OUTPUT) {
		forget_error(v);
	} else if (e == STACK && around(v, 1) == ERROR && v->nr_stacks < MAX_STACKS) {
		v->stack[v->nr_stacks++].before = strdup(str_text(&v->aux));
		str_clear(&v->aux);
	} else if (e == FRAME) {
		v->frame = (struct frame){ 0 };
		str_clear(&v->dir);
	}
}

static void on_text(void *arg, const char *text, int bytes)
{
	struct valgrind *v = arg;

	if (v->chars.len < MAX_TEXT)
		str_addn(&v->chars, text, (size_t)bytes);
}

/* Without white space at its end. */
static void put(struct str *s, const char *text)
{
	size_t n = strlen(text);

	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	str_clear(s);
	str_addn(s, text, n);
}

/* Inside <frame>. */
static void end_in_frame(struct valgrind *v, enum element e, const char *text)
{
	struct str path = STR_INIT;

	switch (e) {
	case IP:
		v->frame.ip = strtoull(text, NULL, 16);
		break;
	case OBJ:
		v->frame.name.object = keep(v, text);
		break;
	case FN:
		v->frame.name.function = keep(v, text);
		break;
	case DIR:
		put(&v->dir, text);
		break;
	case FILE_:
		str_addf(&path, "%s%s%s", str_text(&v->dir), v->dir.len ? "/" : "", text);
		v->frame.name.file = keep(v, str_text(&path));
		str_fini(&path);
		break;
	case LINE:
		v->frame.name.line = (uint32_t)strtoul(text, NULL, 10);
		break;
	default:
		break;
	}
}

/* Inside <error>, but for stacks. */
static void end_in_error(struct valgrind *v, enum element e, const char *text)
{
	switch (e) {
	case UNIQUE:
		v->unique = strtoull(text, NULL, 16);
		break;
	case TID:
		v->tid = (uint32_t)strtoul(text, NULL, 10);
		break;
	case THREADNAME:
		put(&v->thread_name, text);
		break;
	case KIND:
		put(&v->kind, text);
		break;
	case WHAT:
		put(&v->what, text);
		break;
	case AUXWHAT:
		str_addf(&v->aux, "%s%s", v->aux.len ? ", " : "", text);
		break;
	default:
		break;
	}
}

/* <pair> of <errorcounts>: how often. */
static void end_in_pair(struct valgrind *v, enum element e, const char *text)
{
	uint32_t *finding;

	if (e == COUNT)
		v->count = strtoull(text, NULL, 10);
	if (e != UNIQUE)
		return;
	finding = hash_find(&v->errors, strtoull(text, NULL, 16));
	if (finding && v->count)
		v->heap->findings[*finding].count = v->count;
}

/* What belongs to no error. */
static void end_elsewhere(struct valgrind *v, enum element e, const char *text)
{
	if (e == PID && around(v, 1) == OUTPUT)
		v->heap->pid = (uint32_t)strtoul(text, NULL, 10);
	else if (e == PPID && around(v, 1) == OUTPUT)
		v->heap->ppid = (uint32_t)strtoul(text, NULL, 10);
	else if ((e == EXE || e == ARG) && around(v, 1) == ARGV)
		str_addf(&v->cmdline, "%s%s", v->cmdline.len ? " " : "", text);
	else if (e == STATE && around(v, 1) == STATUS && !strcmp(text, "FINISHED"))
		v->ended = true;
	if (e == EXE && around(v, 1) == ARGV)
		put(&v->exe, text);
}

static void on_end(void *arg, const char *name)
{
	struct valgrind *v = arg;
	enum element e = around(v, 0), parent = around(v, 1);
	const char *text = str_text(&v->chars);

	(void)name;
	if (parent == FRAME)
		end_in_frame(v, e, text);
	else if (parent == ERROR)
		end_in_error(v, e, text);
	else if (parent == XWHAT && e == TEXT && around(v, 2) == ERROR)
		put(&v->what, text);
	else if (parent == PAIR && around(v, 2) == ERRORCOUNTS)
		end_in_pair(v, e, text);
	else
		end_elsewhere(v, e, text);
	if (e == FRAME && parent == STACK && around(v, 2) == ERROR && v->nr_stacks && vec_push(&v->stack[v->nr_stacks - 1].frames, v->frame))
		v->rc = -ENOMEM;
	if (e == ERROR && parent == OUTPUT && !str_starts(str_text(&v->kind), "Leak_"))
		add_error(v);		/* leaks are told whether asked for or not; pmm leaks knows better */
	str_clear(&v->chars);
	v->depth--;
}

/* ---- the whole ---- */

struct valgrind *valgrind_new(void)
{
	struct valgrind *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->heap = heap_new();
	v->parser = XML_ParserCreate("UTF-8");
	if (!v->heap || !v->parser) {
		valgrind_free(v);
		return NULL;
	}
	XML_SetUserData(v->parser, v);
	XML_SetElementHandler(v->parser, on_start, on_end);
	XML_SetCharacterDataHandler(v->parser, on_text);
	return v;
}

void valgrind_free(struct valgrind *v)
{
	if (!v)
		return;
	forget_error(v);
	if (v->parser)
		XML_ParserFree(v->parser);
	heap_free(v->heap);
	arena_fini(&v->text);
	vec_fini(&v->names);
	vec_fini(&v->by_node);
	hash_fini(&v->nodes);
	hash_fini(&v->sites);
	hash_fini(&v->errors);
	str_fini(&v->cmdline);
	str_fini(&v->exe);
	str_fini(&v->chars);
	str_fini(&v->kind);
	str_fini(&v->what);
	str_fini(&v->aux);
	str_fini(&v->thread_name);
	str_fini(&v->dir);
	free(v);
}

int valgrind_feed(struct valgrind *v, const char *text, size_t bytes, uint64_t now_ns, struct err *e)
{
	v->now_ns = now_ns;
	while (bytes) {
		int part = bytes < 1 << 20 ? (int)bytes : 1 << 20;

		if (XML_Parse(v->parser, text, part, 0) != XML_STATUS_OK)
			return err_set(e, -EBADMSG, "what Valgrind wrote cannot be read: %s in line %lu",
				       XML_ErrorString(XML_GetErrorCode(v->parser)), XML_GetCurrentLineNumber(v->parser));
		if (v->rc)
			return err_set(e, v->rc, "out of memory");
		text += part;
		bytes -= (size_t)part;
	}
	return 0;
}

/* What it runs; comm as the kernel has it: cut. */
static void name_process(struct valgrind *v)
{
	const char *exe = str_text(&v->exe), *slash = strrchr(exe, '/');
	char *line, *comm;

	if (!v->cmdline.len || v->heap->cmdline[0])
		return;
	line = strdup(str_text(&v->cmdline));
	comm = strndup(slash ? slash + 1 : exe, 15);
	if (!line || !comm) {
		free(line);
		free(comm);
		return;
	}
	free(v->heap->cmdline);
	free(v->heap->comm);
	v->heap->cmdline = line;
	v->heap->comm = comm;
}

struct heap *valgrind_heap(struct valgrind *v)
{
	name_process(v);
	v->heap->taken_ns = v->now_ns;
	return v->heap;
}

bool valgrind_ended(const struct valgrind *v)
{
	return v->ended;
}

unsigned valgrind_frames(const struct valgrind *v, uint32_t node, const struct valgrind_frame **out)
{
	if (!node || node >= v->by_node.nr)
		return 0;
	*out = &v->names.v[v->by_node.v[node].first];
	return v->by_node.v[node].nr;
}
