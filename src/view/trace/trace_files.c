/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines about files: which, how, and what came of it. */
#include <fcntl.h>

#include "src/view/trace/trace_line.h"

/* Flags of open() beside how and created and truncated, which are words of their own. */
static const struct {
	const char *name;
	uint64_t value;
	bool shown;			/* also to people */
} open_flags[] = {
	{ "APPEND", O_APPEND, true },	  { "CLOEXEC", O_CLOEXEC, false },
	{ "CREAT", O_CREAT, false },	  { "DIRECT", O_DIRECT, true },
	{ "TMPFILE", O_TMPFILE, true },	  { "DIRECTORY", O_DIRECTORY, true },
	{ "EXCL", O_EXCL, true },	  { "NOATIME", O_NOATIME, true },
	{ "NOCTTY", O_NOCTTY, false },	  { "NOFOLLOW", O_NOFOLLOW, true },
	{ "NONBLOCK", O_NONBLOCK, false }, { "PATH", O_PATH, true },
	{ "SYNC", O_SYNC, true },	  { "DSYNC", O_DSYNC, true },
	{ "TRUNC", O_TRUNC, false },
};

#define NR_OPEN_FLAGS	(sizeof(open_flags) / sizeof(*open_flags))

/* All of a flag's bits are its name: TMPFILE has those of DIRECTORY, SYNC those of DSYNC. */
static void add_open_flags(struct str *text, struct event *e, uint64_t flags)
{
	struct str names = STR_INIT;

	for (size_t i = 0; i < NR_OPEN_FLAGS; i++) {
		if ((flags & open_flags[i].value) != open_flags[i].value)
			continue;
		flags &= ~open_flags[i].value;
		str_addf(&names, "%s%s", names.len ? " " : "", open_flags[i].name);
		if (open_flags[i].shown)
			str_addf(text, " %s", open_flags[i].name);
	}
	event_text(e, "flags", str_text(&names));
	e->failed |= str_error(&names) != 0;
	str_fini(&names);
}

static void describe_open(struct str *text, struct event *e, const struct trace_record *r)
{
	static const char *const access[] = { "read", "write", "read and write", "no access" };
	const char *how = access[r->a[1] & O_ACCMODE];

	event_text(e, "access", how);
	event_u64(e, "creates", UNIT_BOOL, !!(r->a[1] & O_CREAT));
	event_u64(e, "truncates", UNIT_BOOL, !!(r->a[1] & O_TRUNC));
	str_addf(text, " to %s%s%s", how, r->a[1] & O_CREAT ? ", created if absent" : "",
		 r->a[1] & O_TRUNC ? ", truncated" : "");
	add_open_flags(text, e, r->a[1]);
	if (trace_failed(r))
		return;
	event_u64(e, "descriptor", UNIT_NUMBER, r->a[5]);
	str_addf(text, " = %llu", (unsigned long long)r->a[5]);
}

void trace_describe_file(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail)
{
	event_text(e, "path", tail);
	if (r->flags & TRACE_CUT)
		event_u64(e, "path_cut", UNIT_BOOL, true);
	str_add(text, tail);
	switch (r->kind) {
	case TRACE_OPEN:
		describe_open(text, e, r);
		break;
	case TRACE_UNLINK:
		event_u64(e, "directory", UNIT_BOOL, r->a[0]);
		str_add(text, r->a[0] ? " (a directory)" : "");
		break;
	case TRACE_MKDIR:
		event_u64(e, "mode", UNIT_NUMBER, r->a[2] & 07777);
		str_addf(text, " mode %03o", (unsigned)r->a[2] & 07777);
		break;
	case TRACE_RENAME_FILE:
		event_text(e, "new_path", tail + TRACE_TEXT_SECOND);
		str_addf(text, " to %s", tail + TRACE_TEXT_SECOND);
		break;
	}
	if (!trace_failed(r))
		return;
	event_text(e, "error", trace_errno(r->a[5]));
	str_addf(text, " failed: %s", trace_errno(r->a[5]));
}
