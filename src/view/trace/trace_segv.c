/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines about signals of memory: what was accessed, and whether the stack has overflowed. */
#include <signal.h>

#include "src/base/fmt.h"
#include "src/view/trace/trace_line.h"

/*
 * An access that fails near the stack pointer has met the stack's end: all between the stack
 * pointer and the stack's beginning is mapped. Functions touch their frames from the stack pointer
 * upwards, calls and functions without calls of their own just below it; gcc's stack probes touch a
 * page below it, and a large frame is entered at its far end.
 */
#define ABOVE_BYTES	(1u << 20)
#define BELOW_BYTES	(64u << 10)

static bool is_overflow(const struct trace_record *r)
{
	return r->a[2] == SIGSEGV && (int64_t)r->a[3] > 0 && r->a[0] + BELOW_BYTES >= r->a[1] &&
	       r->a[0] < r->a[1] + ABOVE_BYTES;
}

static const struct {
	int signal, code;
	const char *name;
} codes[] = {
	{ SIGSEGV, SEGV_MAPERR, "nothing is mapped there" },
	{ SIGSEGV, SEGV_ACCERR, "its protection forbids it" },
	{ SIGSEGV, SEGV_PKUERR, "its protection key forbids it" },
	{ SIGBUS, BUS_ADRALN, "the address is not aligned" },
	{ SIGBUS, BUS_ADRERR, "the file ends before it" },
	{ SIGBUS, BUS_OBJERR, "the hardware has failed" },
	{ SIGBUS, BUS_MCEERR_AR, "the memory is damaged" },
	{ SIGBUS, BUS_MCEERR_AO, "the memory is damaged" },
};

static const char *code_text(const struct trace_record *r)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i].signal == (int)r->a[2] && codes[i].code == (int)r->a[3])
			return codes[i].name;
	return NULL;
}

void trace_describe_segv(struct str *text, struct event *e, const struct trace_record *r,
			 const char *tail)
{
	const char *why = code_text(r), *name = r->a[2] == SIGBUS ? "SIGBUS" : "SIGSEGV";
	bool sent = (int64_t)r->a[3] <= 0;

	(void)tail;
	event_text(e, "signal_name", name);
	event_u64(e, "sent", UNIT_BOOL, sent);
	str_addf(text, "%s", name);
	if (sent) {			/* kill(2) and the like: of no address */
		str_add(text, " sent by a process");
		return;
	}
	event_u64(e, "address", UNIT_ADDRESS, r->a[0]);
	event_u64(e, "stack_pointer", UNIT_ADDRESS, r->a[1]);
	if (why)
		event_text(e, "why", why);
	event_u64(e, "stack_overflow", UNIT_BOOL, is_overflow(r));
	str_addf(text, " at 0x%llx", (unsigned long long)r->a[0]);
	if (is_overflow(r))
		str_addf(text, ": stack overflow, %s %s the stack pointer",
			 fmt_bytes(r->a[0] < r->a[1] ? r->a[1] - r->a[0] : r->a[0] - r->a[1]).s,
			 r->a[0] < r->a[1] ? "below" : "above");
	else if (why)
		str_addf(text, ": %s", why);
}
