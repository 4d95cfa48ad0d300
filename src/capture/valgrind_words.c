/* memcheck's words. */
#include "src/capture/valgrind_words.h"

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
	{ "SyscallParam", PMM_FINDING_UNINITIALISED, 0 },	/* or not addressable: its text says which */
	{ "ClientCheck", PMM_FINDING_UNINITIALISED, 0 },
};

void valgrind_classify(struct heap_finding *f, const char *kind, const char *what)
{
	const char *size = strstr(what, " of size ");

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

enum valgrind_stack valgrind_note(struct heap_finding *f, const char *note)
{
	unsigned long long address, distance, size;
	char where[8], end[8];

	if (!strncmp(note, "Block was alloc'd", 17) || strstr(note, "created by a heap allocation"))
		return VALGRIND_ALLOCATED;
	if (sscanf(note, "Address 0x%llx is %llu bytes %7s a block of size %llu %7s", &address, &distance, where, &size, end) != 5) {
		if (sscanf(note, "Address 0x%llx is", &address) == 1)
			f->address = address;
		return VALGRIND_NOTHING;
	}
	f->address = address;
	f->block_bytes = size;
	f->block = !strcmp(where, "after") ? address - size - distance : !strcmp(where, "before") ? address + distance : address - distance;
	place(f, where, !strcmp(end, "free'd"));
	return !strcmp(end, "free'd") ? VALGRIND_FREED : VALGRIND_ALLOCATED;
}
