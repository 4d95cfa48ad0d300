/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a heap error: one line that says what it is.
 */
#include <stdio.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/analyze/sizes.h"
#include "src/base/fmt.h"
#include "src/view/check/check_priv.h"
#include "src/view/report_priv.h"

static const char *access_text(unsigned access)
{
	static const char *const text[PMM_NR_ACCESSES] = {
		[PMM_ACCESS_UNKNOWN] = "access",
		[PMM_ACCESS_READ] = "read",
		[PMM_ACCESS_WRITE] = "write",
		[PMM_ACCESS_EXEC] = "execution",
	};

	return text[access < PMM_NR_ACCESSES ? access : PMM_ACCESS_UNKNOWN];
}

const char *check_release_word(unsigned release)
{
	static const char *const text[PMM_NR_RELEASES] = {
		[PMM_RELEASE_NONE] = "free",
		[PMM_RELEASE_FREE] = "free",
		[PMM_RELEASE_REALLOC] = "realloc",
		[PMM_RELEASE_DELETE] = "delete",
		[PMM_RELEASE_DELETE_ARRAY] = "delete[]",
		[PMM_RELEASE_DELETE_SIZED] = "delete with a size",
		[PMM_RELEASE_DELETE_ARRAY_SIZED] = "delete[] with a size",
		[PMM_RELEASE_DELETE_ALIGNED] = "delete with an alignment",
		[PMM_RELEASE_DELETE_ARRAY_ALIGNED] = "delete[] with an alignment",
		[PMM_RELEASE_DELETE_SIZED_ALIGNED] = "delete with a size and an alignment",
		[PMM_RELEASE_DELETE_ARRAY_SIZED_ALIGNED] = "delete[] with a size and an alignment",
	};

	return text[release < PMM_NR_RELEASES ? release : PMM_RELEASE_NONE];
}

const char *check_release_text(unsigned release)
{
	switch (release) {
	case PMM_RELEASE_DELETE_SIZED:
		return "sized delete";
	case PMM_RELEASE_DELETE_ARRAY_SIZED:
		return "sized delete[]";
	case PMM_RELEASE_DELETE_ALIGNED:
		return "aligned delete";
	case PMM_RELEASE_DELETE_ARRAY_ALIGNED:
		return "aligned delete[]";
	case PMM_RELEASE_DELETE_SIZED_ALIGNED:
		return "sized aligned delete";
	case PMM_RELEASE_DELETE_ARRAY_SIZED_ALIGNED:
		return "sized aligned delete[]";
	default:
		return check_release_word(release);
	}
}

static struct fmt bytes(uint64_t n)
{
	return fmt_many(n, "byte");
}

/* "write of 4 bytes", "memcpy: write of 12 bytes". */
static void add_access(struct str *s, const struct heap_finding *f, uint64_t size)
{
	if (f->function[0])
		str_addf(s, "%s: ", f->function);
	str_add(s, access_text(f->access));
	if (size)
		str_addf(s, " of %s", bytes(size).s);
}

/* "a block of 40 bytes". */
static void add_block(struct str *s, const struct heap_finding *f)
{
	if (f->block)
		str_addf(s, "a block of %s", bytes(f->block_bytes).s);
	else
		str_add(s, "a block");
}

/* Does the access of a function begin in the block, and continue beyond its end? */
static bool goes_past(const struct heap_finding *f)
{
	return f->by == PMM_BY_FUNCTION && f->other >= f->block && f->other < f->address &&
	       f->address - f->other < f->size_bytes;
}

/*
 * "12 bytes behind the end of a block of 40 bytes"; "which goes 1 byte past the end of a block of
 * 40 bytes".
 */
static void add_place(struct str *s, const struct heap_finding *f)
{
	uint64_t end = f->block + f->block_bytes;

	switch (f->type) {
	case PMM_FINDING_OVERRUN:
		if (goes_past(f))
			str_addf(s, "which goes %s past the end of ",
				 bytes(f->other + f->size_bytes - end).s);
		else if (f->address > end)
			str_addf(s, "%s behind the end of ", bytes(f->address - end).s);
		else
			str_add(s, "right behind the end of ");
		break;
	case PMM_FINDING_UNDERRUN:
		str_addf(s, "%s before the start of ", bytes(f->block - f->address).s);
		break;
	default:
		if (f->address > f->block)
			str_addf(s, "%s into ", bytes(f->address - f->block).s);
		else
			str_add(s, "at the start of ");
		break;
	}
	add_block(s, f);
	if (f->type == PMM_FINDING_AFTER_FREE)
		str_add(s, " that was freed");
}

void check_when(struct str *s, const struct heap *h, uint64_t ns)
{
	const char *began = h->began == HEAP_BEGAN_ATTACH ? "attach" : "start";
	uint64_t at = heap_tick_time(h, ns);

	str_addf(s, "%s after the %s", report_duration(h, at).s, began);
}

/*
 * Found afterwards, by what is in the place of canary or poison: when it was written is known
 * within bounds.
 */
static void add_overwritten(struct str *s, const struct heap *h, const struct heap_finding *f)
{
	str_add(s, "write ");
	add_place(s, f);
	switch (f->by) {
	case PMM_BY_RELEASE:
		str_addf(s, ", some time before this %s", check_release_text(f->release));
		break;
	case PMM_BY_QUARANTINE:
		str_add(s, ", some time before its memory was to be used again");
		break;
	default:
		if (f->since_ns)
			str_addf(s, ", between the canary scans %s and ",
				 report_duration(h, heap_tick_time(h, f->since_ns)).s);
		else
			str_add(s, ", between its allocation and the canary scan ");
		check_when(s, h, f->first_ns);
	}
}

static void add_bad_free(struct str *s, const struct heap_finding *f)
{
	static const char *const place[PMM_NR_FINDING_PLACES] = {
		[PMM_PLACE_UNKNOWN] = "an address that was never allocated",
		[PMM_PLACE_STACK] = "memory on a stack",
		[PMM_PLACE_STATIC] = "a variable of the program or a library",
		[PMM_PLACE_UNMAPPED] = "an address where no memory is",
	};

	str_addf(s, "%s of ", check_release_text(f->release));
	if (f->place == PMM_PLACE_INSIDE) {
		str_addf(s, "an address %s into ", bytes(f->address - f->block).s);
		add_block(s, f);
	} else {
		str_add(s, place[f->place < PMM_NR_FINDING_PLACES ? f->place : PMM_PLACE_UNKNOWN]);
	}
}

static void add_mismatch(struct str *s, const struct heap_finding *f)
{
	const char *kind = kind_name(f->kind);

	str_addf(s, "%s of ", check_release_text(f->release));
	add_block(s, f);
	str_addf(s, " that came from %s", kind ? kind : "elsewhere");
	if (f->other && (f->release == PMM_RELEASE_DELETE_ALIGNED ||
			 f->release == PMM_RELEASE_DELETE_ARRAY_ALIGNED))
		str_addf(s, ", said to be aligned to %llu", (unsigned long long)f->other);
	else if (f->other)
		str_addf(s, ", said to be %llu", (unsigned long long)f->other);
}

static void add_size(struct str *s, const struct heap_finding *f)
{
	const char *kind = kind_name(f->kind);

	str_addf(s, "%s of ", kind ? kind : "request");
	if (f->size_bytes == UINT64_MAX &&
	    (f->kind == PMM_KIND_CALLOC || f->kind == PMM_KIND_REALLOCARRAY))
		str_add(s, "more bytes than fit in size_t, or of -1 taken for a size");
	else if (f->size_bytes > INT64_MAX)
		str_addf(s, "0x%llx bytes: %lld taken for a size",
			 (unsigned long long)f->size_bytes, (long long)f->size_bytes);
	else
		str_add(s, bytes(f->size_bytes).s);
}

const char *check_type_title(unsigned type)
{
	static const char *const title[PMM_NR_FINDING_TYPES] = {
		[PMM_FINDING_OVERRUN] = "heap overrun",
		[PMM_FINDING_UNDERRUN] = "heap underrun",
		[PMM_FINDING_AFTER_FREE] = "use after free",
		[PMM_FINDING_DOUBLE_FREE] = "double free",
		[PMM_FINDING_BAD_FREE] = "bad free",
		[PMM_FINDING_MISMATCH] = "mismatched free",
		[PMM_FINDING_REALLOC_FREED] = "realloc after free",
		[PMM_FINDING_OVERLAP] = "overlapping copy",
		[PMM_FINDING_SIZE] = "bad size",
		[PMM_FINDING_STACK_OVERFLOW] = "stack overflow",
		[PMM_FINDING_UNINITIALISED] = "uninitialised memory",
		[PMM_FINDING_WILD] = "wild access",
		[PMM_FINDING_CRASH] = "crash",
	};

	return type < PMM_NR_FINDING_TYPES && title[type] ? title[type] : "error";
}

/* "uaf, zoo.c:11": the innermost frame that is the program's own. */
static void add_source(struct str *s, const struct frame_name *f)
{
	report_frame_label(s, f);
	if (f->file && f->line)
		str_addf(s, ", %s:%u", report_basename(f->file), f->line);
	else if (f->function && f->module)
		str_addf(s, ", %s", report_basename(f->module));
}

/*
 * The culprit is known when the access itself was stopped; else where it came to light, or whose
 * block it is, is the next best.
 */
void check_title(struct str *s, struct names *n, const struct heap_finding *f, bool again)
{
	static const char *const how[PMM_NR_FINDING_BYS] = {
		[PMM_BY_ACCESS] = " in ",	  [PMM_BY_FUNCTION] = " in ",
		[PMM_BY_RELEASE] = ", found in ", [PMM_BY_QUARANTINE] = ", found in ",
		[PMM_BY_SCAN] = ", found in ",	  [PMM_BY_VALGRIND] = " in ",
		[PMM_BY_SIGNAL] = " in ",
	};
	bool later = f->by == PMM_BY_RELEASE &&
		     (f->type == PMM_FINDING_OVERRUN || f->type == PMM_FINDING_UNDERRUN);
	uint32_t site = f->by == PMM_BY_SCAN || f->by == PMM_BY_QUARANTINE ? f->alloc_site
									   : f->site;
	const struct frame_name *at = NULL;

	if (site != HEAP_NO_SITE && site < n->heap->nr_sites && n->heap->sites[site].node)
		at = names_responsible(n, n->heap->sites[site].node, NULL);
	str_add(s, check_type_title(f->type));
	if (f->type == PMM_FINDING_CRASH && check_crash_signal(n->heap)) {
		char name[CHECK_SIGNAL_BYTES];

		check_signal_name(name, check_crash_signal(n->heap));
		str_addf(s, " (%s)", name);
	}
	if (!at)
		return;
	if (site == f->alloc_site && site != f->site)
		str_add(s, ", of a block from ");
	else
		str_add(s, again ? ", found again in "
			   : f->by == PMM_BY_RELEASE && !later
				   ? " in "
				   : how[f->by < PMM_NR_FINDING_BYS ? f->by : PMM_BY_ACCESS]);
	add_source(s, at);
}

/* Of more than one error: "double frees". */
static const char *many_title(unsigned type)
{
	static const char *const title[PMM_NR_FINDING_TYPES] = {
		[PMM_FINDING_OVERRUN] = "heap overruns",
		[PMM_FINDING_UNDERRUN] = "heap underruns",
		[PMM_FINDING_AFTER_FREE] = "uses after free",
		[PMM_FINDING_DOUBLE_FREE] = "double frees",
		[PMM_FINDING_BAD_FREE] = "bad frees",
		[PMM_FINDING_MISMATCH] = "mismatched frees",
		[PMM_FINDING_REALLOC_FREED] = "reallocs after free",
		[PMM_FINDING_OVERLAP] = "overlapping copies",
		[PMM_FINDING_SIZE] = "bad sizes",
		[PMM_FINDING_STACK_OVERFLOW] = "stack overflows",
		[PMM_FINDING_UNINITIALISED] = "uses of uninitialised memory",
		[PMM_FINDING_WILD] = "wild accesses",
		[PMM_FINDING_CRASH] = "crashes",
	};

	return title[type] ? title[type] : check_type_title(type);
}

void check_counts(struct str *s, const struct heap *h)
{
	uint64_t nr[PMM_NR_FINDING_TYPES] = { 0 };
	const char *sep = ": ";

	for (uint64_t i = 0; i < h->nr_findings; i++)
		if (h->findings[i].type < PMM_NR_FINDING_TYPES)
			nr[h->findings[i].type]++;
	str_add(s, fmt_many(h->nr_findings, "error").s);
	for (unsigned type = 0; type < PMM_NR_FINDING_TYPES; type++) {
		if (!nr[type])
			continue;
		str_addf(s, "%s%s %s", sep, fmt_count(nr[type]).s,
			 nr[type] > 1 ? many_title(type) : check_type_title(type));
		sep = ", ";
	}
}

void check_headline_again(struct str *s, const struct heap_finding *f)
{
	str_addf(s, "%s of ", check_release_text(f->release));
	add_block(s, f);
	str_addf(s, " at 0x%llx, whose damage a canary scan has reported",
		 (unsigned long long)f->block);
}

/* An access beside a block or to a released one: stopped, or found afterwards. */
static void add_wrong_access(struct str *s, const struct heap *h, const struct heap_finding *f,
			     unsigned access_bytes)
{
	if (f->by == PMM_BY_VALGRIND || f->by == PMM_BY_ACCESS || f->by == PMM_BY_FUNCTION) {
		add_access(s, f, f->size_bytes ? f->size_bytes : access_bytes);
		str_add(s, ", ");
		add_place(s, f);
	} else {
		add_overwritten(s, h, f);
	}
}

static void add_freed_already(struct str *s, const char *release, const struct heap_finding *f)
{
	str_addf(s, "%s of ", release);
	add_block(s, f);
	str_add(s, " that was freed already");
}

void check_headline(struct str *s, const struct heap *h, const struct heap_finding *f,
		    unsigned access_bytes)
{
	bool own_words = f->block || (f->type == PMM_FINDING_BAD_FREE && f->place) ||
			 (f->type == PMM_FINDING_SIZE && f->size_bytes);

	if (f->by == PMM_BY_VALGRIND &&
	    (f->type == PMM_FINDING_OTHER || f->type == PMM_FINDING_UNINITIALISED || !own_words)) {
		str_add(s, f->text[0] ? f->text : "an error");
		return;
	}
	switch (f->type) {
	case PMM_FINDING_OVERRUN:
	case PMM_FINDING_UNDERRUN:
	case PMM_FINDING_AFTER_FREE:
		add_wrong_access(s, h, f, access_bytes);
		break;
	case PMM_FINDING_DOUBLE_FREE:
		add_freed_already(s, check_release_text(f->release), f);
		break;
	case PMM_FINDING_REALLOC_FREED:
		add_freed_already(s, "realloc", f);
		break;
	case PMM_FINDING_BAD_FREE:
		add_bad_free(s, f);
		break;
	case PMM_FINDING_MISMATCH:
		add_mismatch(s, f);
		break;
	case PMM_FINDING_OVERLAP:
		str_addf(s, "%s of %s from 0x%llx to 0x%llx: the ranges overlap",
			 f->function[0] ? f->function : "copy", bytes(f->size_bytes).s,
			 (unsigned long long)f->other, (unsigned long long)f->address);
		break;
	case PMM_FINDING_SIZE:
		add_size(s, f);
		break;
	case PMM_FINDING_STACK_OVERFLOW:
		str_add(s, "the stack ran over its end");
		break;
	case PMM_FINDING_CRASH:
		check_crash_headline(s, h, f, access_bytes);
		break;
	case PMM_FINDING_WILD:
		add_access(s, f, f->size_bytes ? f->size_bytes : access_bytes);
		str_add(s, " where no block is");
		break;
	default:
		str_add(s, f->text[0] ? f->text : "an error");
		break;
	}
	check_ended_by(s, h, f);
}
