/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memcheck's words. */
#include "src/store/valgrind_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *kind;
	uint8_t type, access;
} kinds[] = {
	{ "InvalidRead", PMM_FINDING_WILD, PMM_ACCESS_READ },
	{ "InvalidWrite", PMM_FINDING_WILD, PMM_ACCESS_WRITE },
	{ "InvalidJump", PMM_FINDING_WILD, PMM_ACCESS_EXEC },
	{ "InvalidFree", PMM_FINDING_BAD_FREE, 0 },
	{ "InvalidMemPool", PMM_FINDING_OTHER, 0 },
	{ "MismatchedFree", PMM_FINDING_MISMATCH, 0 },
	{ "Overlap", PMM_FINDING_OVERLAP, 0 },
	{ "FishyValue", PMM_FINDING_SIZE, 0 },
	{ "UninitCondition", PMM_FINDING_UNINITIALISED, 0 },
	{ "UninitValue", PMM_FINDING_UNINITIALISED, 0 },
	/* or not addressable: its text says which */
	{ "SyscallParam", PMM_FINDING_UNINITIALISED, 0 },
	{ "ClientCheck", PMM_FINDING_UNINITIALISED, 0 },
};

void valgrind_classify(struct heap_finding *f, const char *kind, const char *what)
{
	const char *size = strstr(what, " of size "),
		   *fishy = strstr(what, "fishy (possibly negative) value: ");

	f->type = PMM_FINDING_OTHER;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].kind, kind)) {
			f->type = kinds[i].type;
			f->access = kinds[i].access;
		}
	if (f->type == PMM_FINDING_UNINITIALISED && strstr(what, "unaddressable"))
		f->type = PMM_FINDING_OTHER;
	if (size)
		f->size_bytes = strtoull(size + strlen(" of size "), NULL, 10);
	else if (fishy)
		f->size_bytes = (uint64_t)strtoll(strchr(fishy, ':') + 1, NULL, 10);
}

static const struct {
	const char *name;
	uint8_t kind, release;
} functions[] = {
	{ "malloc", PMM_KIND_MALLOC, 0 },
	{ "calloc", PMM_KIND_CALLOC, 0 },
	{ "realloc", PMM_KIND_REALLOC, PMM_RELEASE_REALLOC },
	{ "reallocarray", PMM_KIND_REALLOCARRAY, PMM_RELEASE_REALLOC },
	{ "posix_memalign", PMM_KIND_POSIX_MEMALIGN, 0 },
	{ "aligned_alloc", PMM_KIND_ALIGNED_ALLOC, 0 },
	{ "memalign", PMM_KIND_MEMALIGN, 0 },
	{ "valloc", PMM_KIND_VALLOC, 0 },
	{ "pvalloc", PMM_KIND_PVALLOC, 0 },
	{ "free", 0, PMM_RELEASE_FREE },
	{ "cfree", 0, PMM_RELEASE_FREE },
};

/* By which operator delete: array, sized, aligned. */
static const uint8_t deletes[2][2][2] = {
	{ { PMM_RELEASE_DELETE, PMM_RELEASE_DELETE_ALIGNED },
	  { PMM_RELEASE_DELETE_SIZED, PMM_RELEASE_DELETE_SIZED_ALIGNED } },
	{ { PMM_RELEASE_DELETE_ARRAY, PMM_RELEASE_DELETE_ARRAY_ALIGNED },
	  { PMM_RELEASE_DELETE_ARRAY_SIZED, PMM_RELEASE_DELETE_ARRAY_SIZED_ALIGNED } },
};

static void function_of(const char *name, uint8_t *kind, uint8_t *release)
{
	bool array = strstr(name, "[]"), sized = strstr(name, "unsigned long"),
	     aligned = strstr(name, "align_val_t");

	*kind = *release = 0;
	if (!strncmp(name, "operator new", 12))
		*kind = aligned ? array ? PMM_KIND_NEW_ARRAY_ALIGNED : PMM_KIND_NEW_ALIGNED
			: array ? PMM_KIND_NEW_ARRAY
				: PMM_KIND_NEW;
	if (!strncmp(name, "operator delete", 15))
		*release = deletes[array][sized][aligned];
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!strcmp(functions[i].name, name)) {
			*kind = functions[i].kind;
			*release = functions[i].release;
		}
}

void valgrind_function(struct heap_finding *f, enum valgrind_stack stack, const char *function)
{
	uint8_t kind, release;

	function_of(function, &kind, &release);
	if (stack == VALGRIND_ALLOCATED || (f->type == PMM_FINDING_SIZE && stack == VALGRIND_ERROR))
		f->kind = kind;
	else if (stack == VALGRIND_ERROR && release)
		f->release = release;
	else if (stack == VALGRIND_ERROR)
		snprintf(f->function, sizeof(f->function), "%s", function);
}

/* The access becomes what it is by its place; so does a release of what was released. */
static void place(struct heap_finding *f, const char *where, bool freed)
{
	bool access = f->type == PMM_FINDING_WILD;

	if (freed && f->type == PMM_FINDING_BAD_FREE)
		f->type = f->address == f->block ? PMM_FINDING_DOUBLE_FREE : PMM_FINDING_BAD_FREE;
	else if (freed && access)
		f->type = PMM_FINDING_AFTER_FREE;
	else if (access && !strcmp(where, "after"))
		f->type = PMM_FINDING_OVERRUN;
	else if (access && !strcmp(where, "before"))
		f->type = PMM_FINDING_UNDERRUN;
	if (f->type == PMM_FINDING_BAD_FREE && !strcmp(where, "inside"))
		f->place = PMM_PLACE_INSIDE;
}

/* In no block. */
static void place_elsewhere(struct heap_finding *f, const char *where, uint64_t address)
{
	f->address = address;
	if (f->type != PMM_FINDING_BAD_FREE)
		return;
	if (strstr(where, "'s stack"))
		f->place = PMM_PLACE_STACK;
	else if (strstr(where, "data symbol"))
		f->place = PMM_PLACE_STATIC;
}

enum valgrind_stack valgrind_note(struct heap_finding *f, const char *note)
{
	unsigned long long address, distance, size;
	char where[8], end[8];

	if (!strncmp(note, "Block was alloc'd", 17) || strstr(note, "created by a heap allocation"))
		return VALGRIND_ALLOCATED;
	if (strstr(note, "created by a stack allocation")) {
		f->place = PMM_PLACE_STACK;
		return VALGRIND_ALLOCATED;
	}
	if (sscanf(note, "Address 0x%llx is %llu bytes %7s a block of size %llu %7s", &address,
		   &distance, where, &size, end) != 5) {
		if (sscanf(note, "Address 0x%llx is", &address) == 1)
			place_elsewhere(f, note, address);
		return VALGRIND_NOTHING;
	}
	f->address = address;
	f->block_bytes = size;
	f->block = !strcmp(where, "after")    ? address - size - distance
		   : !strcmp(where, "before") ? address + distance
					      : address - distance;
	place(f, where, !strcmp(end, "free'd"));
	return !strcmp(end, "free'd") ? VALGRIND_FREED : VALGRIND_ALLOCATED;
}
