/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Valgrind's XML, read with expat. */
#include "src/store/valgrind.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/store/valgrind_priv.h"

#define MAX_TEXT	(64u << 10)	/* of one element; the rest is cut */

static const char *const element_name[NR_ELEMENTS] = {
	[OUTPUT] = "valgrindoutput",
	[ARGV] = "argv",
	[EXE] = "exe",
	[ARG] = "arg",
	[PID] = "pid",
	[STATUS] = "status",
	[STATE] = "state",
	[ERROR] = "error",
	[UNIQUE] = "unique",
	[TID] = "tid",
	[KIND] = "kind",
	[WHAT] = "what",
	[XWHAT] = "xwhat",
	[TEXT] = "text",
	[AUXWHAT] = "auxwhat",
	[STACK] = "stack",
	[FRAME] = "frame",
	[IP] = "ip",
	[OBJ] = "obj",
	[FN] = "fn",
	[DIR] = "dir",
	[FILE_] = "file",
	[LINE] = "line",
	[ERRORCOUNTS] = "errorcounts",
	[PAIR] = "pair",
	[COUNT] = "count",
	[PPID] = "ppid",
	[THREADNAME] = "threadname",
};

static const char *intern(struct valgrind *v, const char *text)
{
	char *copy = *text ? arena_strdup(&v->text, text) : NULL;

	if (*text && !copy)
		v->rc = -ENOMEM;
	return copy;
}

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
		valgrind_forget_error(v);
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
		v->frame.name.object = intern(v, text);
		break;
	case FN:
		v->frame.name.function = intern(v, text);
		break;
	case DIR:
		put(&v->dir, text);
		break;
	case FILE_:
		str_addf(&path, "%s%s%s", str_text(&v->dir), v->dir.len ? "/" : "", text);
		v->frame.name.file = intern(v, str_text(&path));
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
	if (e == FRAME && parent == STACK && around(v, 2) == ERROR && v->nr_stacks &&
	    vec_push(&v->stack[v->nr_stacks - 1].frames, v->frame))
		v->rc = -ENOMEM;
	/* Valgrind reports leaks whether asked for or not; pmm leaks knows better */
	if (e == ERROR && parent == OUTPUT && !str_starts(str_text(&v->kind), "Leak_"))
		valgrind_add_error(v);
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
	valgrind_forget_error(v);
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

int valgrind_feed(struct valgrind *v, const char *text, size_t bytes, uint64_t now_ns,
		  struct err *e)
{
	v->now_ns = now_ns;
	while (bytes) {
		int part = bytes < 1 << 20 ? (int)bytes : 1 << 20;

		if (XML_Parse(v->parser, text, part, 0) != XML_STATUS_OK)
			return err_set(e, -EBADMSG,
				       "what Valgrind wrote cannot be read: %s in line %lu",
				       XML_ErrorString(XML_GetErrorCode(v->parser)),
				       XML_GetCurrentLineNumber(v->parser));
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
