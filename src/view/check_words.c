/*
 * What a heap error is, in a line for somebody who was woken up.
 */
#include <stdio.h>
#include <string.h>

#include "include/pmm/ledger.h"
#include "src/analyze/sizes.h"
#include "src/base/fmt.h"
#include "src/view/check_part.h"
#include "src/view/report_part.h"

static const char *access_text(unsigned access)
{
	static const char *const text[PMM_NR_ACCESSES] = {
		[PMM_ACCESS_UNKNOWN] = "access", [PMM_ACCESS_READ] = "read", [PMM_ACCESS_WRITE] = "write",
		[PMM_ACCESS_EXEC] = "execution",
	};

	return text[access < PMM_NR_ACCESSES ? access : PMM_ACCESS_UNKNOWN];
}

const char *check_release_text(unsigned release)
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

static struct fmt bytes(uint64_t n)
{
	return report_many(n, "byte");
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

/* "12 bytes behind the end of a block of 40 bytes". */
static void add_place(struct str *s, const struct heap_finding *f)
{
	uint64_t end = f->block + f->block_bytes;

	switch (f->type) {
	case PMM_FINDING_OVERRUN:
		if (f->address > end)
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

/* Found afterwards, by what stands in the place of canary or poison. */
static void add_overwritten(struct str *s, const struct heap *h, const struct heap_finding *f)
{
	str_add(s, f->type == PMM_FINDING_AFTER_FREE ? "written after it was freed: " : "overwritten: ");
	add_place(s, f);
	switch (f->by) {
	case PMM_BY_RELEASE:
		str_addf(s, "; found at its %s", check_release_text(f->release));
		break;
	case PMM_BY_QUARANTINE:
		str_add(s, "; found before its memory was used again");
		break;
	default:
		if (f->since_ns)
			str_addf(s, "; found by a sweep, in the last %s",
				 fmt_duration(f->first_ns > f->since_ns ? f->first_ns - f->since_ns : 0).s);
		else
			str_add(s, "; found by a sweep");
		(void)h;
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
	if (f->other)
		str_addf(s, ", said to be %llu", (unsigned long long)f->other);
}

static void add_size(struct str *s, const struct heap_finding *f)
{
	const char *kind = kind_name(f->kind);

	str_addf(s, "%s of %s", kind ? kind : "request", bytes(f->size_bytes).s);
	if (f->size_bytes > INT64_MAX)
		str_addf(s, " (%lld as a signed number)", (long long)f->size_bytes);
}

void check_headline(struct str *s, const struct heap *h, const struct heap_finding *f, unsigned access_bytes)
{
	if (f->by == PMM_BY_VALGRIND && (f->type == PMM_FINDING_OTHER || f->type == PMM_FINDING_UNINITIALISED || !f->block)) {
		str_add(s, f->text[0] ? f->text : "an error");
		return;
	}
	switch (f->type) {
	case PMM_FINDING_OVERRUN:
	case PMM_FINDING_UNDERRUN:
	case PMM_FINDING_AFTER_FREE:
		if (f->by == PMM_BY_VALGRIND || f->by == PMM_BY_ACCESS || f->by == PMM_BY_FUNCTION) {
			add_access(s, f, f->size_bytes ? f->size_bytes : access_bytes);
			str_add(s, ", ");
			add_place(s, f);
		} else {
			add_overwritten(s, h, f);
		}
		break;
	case PMM_FINDING_DOUBLE_FREE:
		str_addf(s, "%s of ", check_release_text(f->release));
		add_block(s, f);
		str_add(s, " that was freed already");
		break;
	case PMM_FINDING_REALLOC_FREED:
		str_add(s, "realloc of ");
		add_block(s, f);
		str_add(s, " that was freed already");
		break;
	case PMM_FINDING_BAD_FREE:
		add_bad_free(s, f);
		break;
	case PMM_FINDING_MISMATCH:
		add_mismatch(s, f);
		break;
	case PMM_FINDING_OVERLAP:
		str_addf(s, "%s of %s from 0x%llx to 0x%llx: the ranges overlap", f->function[0] ? f->function : "copy",
			 bytes(f->size_bytes).s, (unsigned long long)f->other, (unsigned long long)f->address);
		break;
	case PMM_FINDING_SIZE:
		add_size(s, f);
		break;
	case PMM_FINDING_STACK_OVERFLOW:
		str_add(s, "the stack ran over its end");
		break;
	case PMM_FINDING_WILD:
		add_access(s, f, f->size_bytes ? f->size_bytes : access_bytes);
		str_add(s, " where no block is");
		break;
	default:
		str_add(s, f->text[0] ? f->text : "an error");
		break;
	}
}
