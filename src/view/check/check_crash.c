/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of what ended the process, one line. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "include/pmm/check.h"
#include "src/base/fmt.h"
#include "src/view/check/check_priv.h"
#include "src/view/report_priv.h"

#define MAP_READ	1
#define MAP_WRITE	2
#define MAP_EXEC	4
#define POISON_NEAR	0x10000ull

void check_signal_name(char name[CHECK_SIGNAL_BYTES], unsigned signal)
{
	const char *known = sigabbrev_np((int)signal);

	if (known)
		snprintf(name, CHECK_SIGNAL_BYTES, "SIG%s", known);
	else
		snprintf(name, CHECK_SIGNAL_BYTES, "signal %u", signal);
}

static void add_signal(struct str *s, unsigned signal)
{
	char name[CHECK_SIGNAL_BYTES];

	check_signal_name(name, signal);
	str_add(s, name);
}

unsigned check_crash_signal(const struct heap *h)
{
	return h->death.fault ? h->death.fault : h->death.signal;
}

/* "12 bytes behind the end of a block of 40 bytes". */
static void add_block(struct str *s, const struct heap_finding *f, bool freed)
{
	uint64_t end = f->block + f->block_bytes;

	if (f->address < f->block)
		str_addf(s, ", %s before the start of",
			 fmt_many(f->block - f->address, "byte").s);
	else if (f->address > end)
		str_addf(s, ", %s behind the end of", fmt_many(f->address - end, "byte").s);
	else if (f->address == end && f->block_bytes)
		str_add(s, ", right behind the end of");
	else if (f->address > f->block)
		str_addf(s, ", %s into", fmt_many(f->address - f->block, "byte").s);
	else
		str_add(s, ", at the start of");
	str_addf(s, " a block of %s%s", fmt_many(f->block_bytes, "byte").s,
		 freed ? " that was freed" : "");
}

/* "in memory that cannot be written (r-x), of libfoo.so". */
static void add_forbidden(struct str *s, const struct heap *h, const struct heap_finding *f)
{
	static const char *const verb[PMM_NR_ACCESSES] = {
		[PMM_ACCESS_UNKNOWN] = "accessed",
		[PMM_ACCESS_READ] = "read",
		[PMM_ACCESS_WRITE] = "written",
		[PMM_ACCESS_EXEC] = "executed",
	};
	unsigned has = h->death.map_access;

	str_addf(s, ", in memory that cannot be %s",
		 verb[f->access < PMM_NR_ACCESSES ? f->access : PMM_ACCESS_UNKNOWN]);
	str_addf(s, " (%c%c%c)", has & MAP_READ ? 'r' : '-', has & MAP_WRITE ? 'w' : '-',
		 has & MAP_EXEC ? 'x' : '-');
	if (f->text[0])
		str_addf(s, ", of %s", f->text[0] == '/' ? report_basename(f->text) : f->text);
}

/* A word of released blocks' poison, or near what one would point to. */
static bool is_poison(uint64_t address)
{
	uint64_t poison = PMM_POISON_BYTE * 0x0101010101010101ull,
		 off = address - poison + POISON_NEAR;

	return off < 2 * POISON_NEAR;
}

static void add_place(struct str *s, const struct heap *h, const struct heap_finding *f)
{
	switch (f->place) {
	case PMM_PLACE_NULL:
		if (f->address)
			str_addf(s, ", %s from a null pointer", fmt_many(f->address, "byte").s);
		else
			str_add(s, ", a null pointer");
		break;
	case PMM_PLACE_UNMAPPED:
		str_add(s, ", where no memory is mapped");
		break;
	case PMM_PLACE_FORBIDDEN:
		add_forbidden(s, h, f);
		break;
	case PMM_PLACE_STACK_GUARD:
		str_add(s, ", in the guard area below a stack");
		break;
	case PMM_PLACE_PAST_FILE:
		str_addf(s, ", mapped from %s, but behind the end of that file",
			 report_basename(f->text));
		break;
	case PMM_PLACE_NO_ADDRESS:
		str_add(s, ", where no memory can be");
		if (is_poison(f->address))
			str_add(s, ": the pointer was read from a block that was freed");
		break;
	default:
		break;
	}
	if (f->block)
		add_block(s, f, f->free_site != HEAP_NO_SITE || f->free_ns);
}

static void add_access(struct str *s, const struct heap *h, const struct heap_finding *f,
		       unsigned access_bytes)
{
	static const char *const what[PMM_NR_ACCESSES] = {
		[PMM_ACCESS_UNKNOWN] = "access",
		[PMM_ACCESS_READ] = "read",
		[PMM_ACCESS_WRITE] = "write",
		[PMM_ACCESS_EXEC] = "execution",
	};

	str_add(s, what[f->access < PMM_NR_ACCESSES ? f->access : PMM_ACCESS_UNKNOWN]);
	if (access_bytes && f->access != PMM_ACCESS_EXEC)
		str_addf(s, " of %s", fmt_many(access_bytes, "byte").s);
	if (f->place == PMM_PLACE_NO_ADDRESS && !f->address) {
		str_add(s, " at an address that no memory can have");
		return;
	}
	str_addf(s, " at 0x%llx", (unsigned long long)f->address);
	add_place(s, h, f);
}

static void add_what(struct str *s, const struct heap *h, const struct heap_finding *f,
		     unsigned access_bytes)
{
	switch (check_crash_signal(h)) {
	case SIGSEGV:
	case SIGBUS:
		add_access(s, h, f, access_bytes);
		break;
	case SIGFPE:
		str_add(s, h->death.code == FPE_INTDIV ? "division of an integer by zero, or with "
							 "a result that is too large"
						       : "arithmetic error");
		break;
	case SIGILL:
		str_add(s, "an instruction that the processor does not have");
		break;
	case SIGTRAP:
		str_add(s,
			h->death.code == TRAP_TRACE ? "a single step" : "a breakpoint instruction");
		break;
	case SIGABRT:
		str_add(s, "abort() was called");
		if (f->text[0])
			str_addf(s, ", which said '%s'", f->text);
		break;
	default:
		str_add(s, "the kernel stopped it");
		break;
	}
}

/* Who ended it, where that was not the fault's signal by itself. */
static void add_end(struct str *s, const struct heap *h)
{
	const struct heap_death *d = &h->death;

	if (!d->fault || d->signal == d->fault)
		return;
	if (!d->signal) {
		str_addf(s, "; its handler ended the program with status %u", d->status);
		return;
	}
	str_add(s, "; its handler ended the program with ");
	add_signal(s, d->signal);
}

void check_crash_headline(struct str *s, const struct heap *h, const struct heap_finding *f,
			  unsigned access_bytes)
{
	if (f->thread == HEAP_NO_THREAD && f->site == HEAP_NO_SITE) {
		str_add(s, "a signal of this kind ended the program; where that was is not known");
		return;
	}
	add_what(s, h, f, access_bytes);
	add_end(s, h);
}

void check_ended_by(struct str *s, const struct heap *h, const struct heap_finding *f)
{
	if (!h->death.known || h->death.finding != f->number || f->type == PMM_FINDING_CRASH)
		return;
	add_end(s, h);
	if (h->death.signal != check_crash_signal(h))
		return;
	str_add(s, "; the program ended by it (");
	add_signal(s, h->death.signal);
	str_addc(s, ')');
}

unsigned check_death_signal(const struct heap *h)
{
	return h->death.known && h->death.signal	    ? h->death.signal
	       : h->end == HEAP_KILLED && h->end_status > 0 ? (unsigned)h->end_status
							    : 0;
}

bool check_death(struct str *s, const struct heap *h)
{
	unsigned signal = check_death_signal(h);

	if (!signal)
		return false;
	add_signal(s, signal);
	/* the kernel sends it in the writer's name */
	if (h->death.known && signal == SIGPIPE && h->death.sender == h->pid)
		str_add(s, " (as when no process reads what it writes)");
	else if (h->death.known && h->death.sender)
		str_addf(s,
			 h->death.sender == h->pid ? ", which it sent itself," : " from process %u",
			 h->death.sender);
	str_add(s, " ended it");
	return true;
}
