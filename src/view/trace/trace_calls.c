/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines about system calls that change mappings, their arguments decoded. */
#include <sys/mman.h>
#include <sys/shm.h>

#include "src/base/fmt.h"
#include "src/view/trace/trace_line.h"

/* "none", "r", "rw", "rwx". */
static void add_prot(struct str *s, uint64_t prot)
{
	if (!(prot & (PROT_READ | PROT_WRITE | PROT_EXEC)))
		str_add(s, "none");
	if (prot & PROT_READ)
		str_addc(s, 'r');
	if (prot & PROT_WRITE)
		str_addc(s, 'w');
	if (prot & PROT_EXEC)
		str_addc(s, 'x');
}

static void add_result(struct str *text, struct event *e, const struct trace_record *r,
		       bool address)
{
	if (trace_failed(r)) {
		event_text(e, "error", trace_errno(r->a[5]));
		str_addf(text, " failed: %s", trace_errno(r->a[5]));
	} else if (address) {
		event_u64(e, "result", UNIT_ADDRESS, r->a[5]);
		str_addf(text, " = 0x%llx", (unsigned long long)r->a[5]);
	}
}

static void describe_mmap(struct str *text, struct event *e, const struct trace_record *r)
{
	struct str prot = STR_INIT;

	add_prot(&prot, r->a[2]);
	event_u64(e, "size_bytes", UNIT_BYTES, r->a[1]);
	event_text(e, "protection", str_text(&prot));
	str_addf(text, "%s %s %s%s", fmt_bytes(r->a[1]).s, str_text(&prot),
		 r->a[3] & MAP_SHARED ? "shared" : "private",
		 r->a[3] & MAP_ANONYMOUS ? " anonymous" : "");
	if (!(r->a[3] & MAP_ANONYMOUS))
		str_addf(text, " of descriptor %d", (int)r->a[4]);
	add_result(text, e, r, true);
	str_fini(&prot);
}

static void describe_range(struct str *text, struct event *e, const struct trace_record *r)
{
	event_u64(e, "address", UNIT_ADDRESS, r->a[0]);
	event_u64(e, "size_bytes", UNIT_BYTES, r->a[1]);
	str_addf(text, "%s at 0x%llx", fmt_bytes(r->a[1]).s, (unsigned long long)r->a[0]);
	add_result(text, e, r, false);
}

void trace_describe_call(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail)
{
	(void)tail;
	switch (r->kind) {
	case TRACE_MMAP:
		describe_mmap(text, e, r);
		break;
	case TRACE_MUNMAP:
	case TRACE_MPROTECT:
	case TRACE_MADVISE:
		describe_range(text, e, r);
		break;
	default:
		add_result(text, e, r, true);
		break;
	}
}
