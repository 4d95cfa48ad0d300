/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines about files: which, how, and what came of it. */
#include <fcntl.h>

#include "src/view/trace/trace_line.h"

static void describe_open(struct str *text, struct event *e, const struct trace_record *r)
{
	static const char *const access[] = { "read", "write", "read and write", "no access" };
	const char *how = access[r->a[1] & O_ACCMODE];

	event_text(e, "access", how);
	event_u64(e, "creates", UNIT_BOOL, !!(r->a[1] & O_CREAT));
	event_u64(e, "truncates", UNIT_BOOL, !!(r->a[1] & O_TRUNC));
	str_addf(text, " to %s%s%s", how, r->a[1] & O_CREAT ? ", created if absent" : "",
		 r->a[1] & O_TRUNC ? ", truncated" : "");
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
