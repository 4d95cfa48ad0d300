/* SPDX-License-Identifier: MIT */
/*
 * ELF notes, as a module has them in memory (elf(5), "Notes").
 */
#ifndef AGENT_NOTE_H
#define AGENT_NOTE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

struct note {
	uint32_t type, name_bytes, desc_bytes;
	const char *name, *desc;
};

/* Read the note at `at`; returns where the next one begins, NULL: there is none before `end`. */
static inline const char *note_read(const char *at, const char *end, struct note *n)
{
	Elf64_Nhdr head;
	uint64_t desc_off, next_off;

	if (at + sizeof(head) > end)
		return NULL;
	__builtin_memcpy(&head, at, sizeof(head));
	at += sizeof(head);
	desc_off = ((uint64_t)head.n_namesz + 3) & ~3ull;
	next_off = desc_off + (((uint64_t)head.n_descsz + 3) & ~3ull);
	if (next_off > (uint64_t)(end - at))
		return NULL;
	*n = (struct note){ head.n_type, head.n_namesz, head.n_descsz, at, at + desc_off };
	return at + next_off;
}

#endif
