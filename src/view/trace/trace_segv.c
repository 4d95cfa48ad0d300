/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines about signals of memory: what was accessed, and how the stack has overflowed. */
#include "src/view/trace/trace_segv.h"

#include <signal.h>
#include <string.h>

#include "src/base/fmt.h"

#define INLINED_MAX	16

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

static const char *code_text(const struct stack_overflow *o)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i].signal == o->signal && codes[i].code == o->code)
			return codes[i].name;
	return NULL;
}

static const char *const causes[OVERFLOW_NR_CAUSES] = {
	[OVERFLOW_GUARD] = "guard",
	[OVERFLOW_BEYOND] = "below",
	[OVERFLOW_LIMIT] = "limit",
	[OVERFLOW_NEIGHBOUR] = "neighbour",
	[OVERFLOW_REFUSED] = "refused",
	[OVERFLOW_PROTECTED] = "protection",
};

static const char *const sorts[STACK_NR_SORTS] = {
	[STACK_MAIN] = "first_thread",
	[STACK_THREAD] = "thread",
	[STACK_OTHER] = "other",
};

const char *trace_stack_sort_name(unsigned sort)
{
	return sort < STACK_NR_SORTS ? sorts[sort] : NULL;
}

/* The function of a frame, without what is inlined into it; NULL: not known. */
static const char *function_of(const struct trace_walked *w, unsigned frame)
{
	struct stack_name name[INLINED_MAX];
	unsigned n;

	if (!w || !w->names || frame >= w->stack->nr)
		return NULL;
	n = stack_names_find(w->names, w->stack->frame[frame], name, INLINED_MAX);
	return n ? name[n - 1].function : NULL;
}

/* "f()"; C++ names have their arguments. */
static void add_function(struct str *text, const char *function)
{
	str_addf(text, "%s%s", function, strchr(function, '(') ? "" : "()");
}

/* "the thread's stack of 256 KiB", "the guard of 4.00 KiB below the thread's stack of 256 KiB" */
static void add_stack(struct str *text, const struct stack_overflow *o, bool with_guard)
{
	static const char *const whose[STACK_NR_SORTS] = {
		[STACK_MAIN] = "the first thread's stack",
		[STACK_THREAD] = "the thread's stack",
		[STACK_OTHER] = "a stack",
	};

	if (with_guard && o->guard_bytes)
		str_addf(text, "the guard of %s below ", fmt_bytes(o->guard_bytes).s);
	str_add(text, whose[o->sort]);
	if (o->limit_bytes)
		str_addf(text, " of %s%s", o->sort != STACK_THREAD ? "at most " : "",
			 fmt_bytes(o->limit_bytes).s);
}

static void add_cause(struct str *text, const struct stack_overflow *o)
{
	str_add(text, "; ");
	add_stack(text, o, true);
	switch (o->cause) {
	case OVERFLOW_GUARD:
		str_add(text, " was hit");
		break;
	case OVERFLOW_BEYOND:
		str_add(text, o->guard_bytes ? " was jumped over" : ", without a guard, has ended");
		break;
	case OVERFLOW_LIMIT:
		str_add(text, " is full");
		break;
	case OVERFLOW_NEIGHBOUR:
		str_addf(text, " cannot grow: another mapping is %s below",
			 fmt_bytes(o->neighbour_bytes).s);
		break;
	default:
		str_add(text, " cannot grow");
	}
	str_addf(text, "; its callers use %s%s", o->sort == STACK_OTHER ? "at most " : "",
		 fmt_bytes(o->used_bytes).s);
}

static void add_repeats(struct str *text, struct event *e, const struct stack_overflow *o,
			const struct trace_walked *w)
{
	const char *function = function_of(w, o->repeated);

	event_u64(e, "repeats", UNIT_COUNT, o->repeats);
	event_u64(e, "repeats_estimated", UNIT_BOOL, !o->exact);
	if (function)
		event_text(e, "repeats_function", function);
	str_add(text, "; ");
	if (function)
		add_function(text, function);
	else
		str_add(text, "a function");
	str_addf(text, " %s%s times", o->exact ? "" : o->computed ? "about " : "at least ",
		 fmt_count(o->repeats).s);
}

static void add_overflow(struct str *text, struct event *e, const struct stack_overflow *o,
			 const struct trace_walked *w)
{
	const char *function = function_of(w, 0);

	event_text(e, "overflow_cause", causes[o->cause]);
	str_add(text, ": stack overflow");
	if (function) {
		str_add(text, " in ");
		add_function(text, function);
	}
	if (o->frame_bytes)
		str_addf(text, ", frame of %s", fmt_bytes(o->frame_bytes).s);
	if (o->sort)
		add_cause(text, o);
	if (o->repeats)
		add_repeats(text, e, o, w);
}

static void add_fields(struct event *e, const struct stack_overflow *o)
{
	if (o->frame_bytes)
		event_u64(e, "frame_bytes", UNIT_BYTES, o->frame_bytes);
	if (!o->sort)
		return;
	event_text(e, "stack_sort", sorts[o->sort]);
	if (o->limit_bytes)
		event_u64(e, "stack_limit_bytes", UNIT_BYTES, o->limit_bytes);
	if (o->used_bytes)
		event_u64(e, "stack_used_bytes", UNIT_BYTES, o->used_bytes);
	if (o->guard_bytes)
		event_u64(e, "guard_bytes", UNIT_BYTES, o->guard_bytes);
	event_u64(e, "in_guard", UNIT_BOOL, o->in_guard);
	if (o->neighbour_bytes)
		event_u64(e, "neighbour_bytes", UNIT_BYTES, o->neighbour_bytes);
}

/* By the kernel itself: the processor gives no address, or a signal's frame finds no room. */
static void add_without_address(struct str *text, const struct stack_overflow *o)
{
	str_add(text, " of the kernel, without an address");
	if (!o->sort || !o->used_bytes)
		return;
	str_add(text, "; ");
	add_stack(text, o, false);
	str_addf(text, ", %s in use", fmt_bytes(o->used_bytes).s);
}

static void add_plain(struct str *text, const struct stack_overflow *o, const char *why)
{
	if (why)
		str_addf(text, ": %s", why);
	if (o->in_guard) {
		str_add(text, ", in ");
		add_stack(text, o, true);
	} else if (o->near && !o->sort && o->signal == SIGSEGV) {
		str_add(text, ", near the stack pointer, of a stack that is not known");
	}
}

void trace_describe_segv(struct str *text, struct event *e, const struct trace_record *r,
			 const struct trace_walked *w)
{
	struct stack_overflow o;
	const char *why;

	stack_overflow_judge(&o, r, w ? w->stack : NULL);
	why = code_text(&o);
	event_text(e, "signal_name", o.signal == SIGBUS ? "SIGBUS" : "SIGSEGV");
	event_u64(e, "sent", UNIT_BOOL, o.code <= 0);
	event_u64(e, "handled", UNIT_BOOL, !!(o.flags & STACK_HANDLED));
	str_add(text, o.signal == SIGBUS ? "SIGBUS" : "SIGSEGV");
	if (o.code <= 0) {			/* kill(2) and the like: of no address */
		str_add(text, " sent by a process");
	} else if (o.code == SI_KERNEL) {
		event_u64(e, "stack_pointer", UNIT_ADDRESS, r->a[1]);
		event_u64(e, "stack_overflow", UNIT_BOOL, false);
		add_fields(e, &o);
		add_without_address(text, &o);
	} else {
		event_u64(e, "address", UNIT_ADDRESS, r->a[0]);
		event_u64(e, "stack_pointer", UNIT_ADDRESS, r->a[1]);
		if (why)
			event_text(e, "why", why);
		event_u64(e, "stack_overflow", UNIT_BOOL, o.cause != OVERFLOW_NONE);
		add_fields(e, &o);
		str_addf(text, " at 0x%llx", (unsigned long long)r->a[0]);
		if (o.cause)
			add_overflow(text, e, &o, w);
		else
			add_plain(text, &o, why);
	}
	if (o.flags & STACK_HANDLED)
		str_add(text, "; the process handles it");
}
