/* SPDX-License-Identifier: MIT */
/*
 * Who else in this process has a table of pmm.h's calls (include/pmm/shim.h): notes of the modules
 * that are loaded. Symbols would not do: a program hides its own from what it loads with dlopen(),
 * and asking the loader in vain changes what dlerror() says.
 */
#include "shim/full/full.h"

#include <link.h>

#include "agent/agent.h"
#include "agent/note.h"
#include "agent/sys.h"

uintptr_t full_texts_at, full_texts_bytes;

static struct {
	struct full_tables found;
	unsigned nr;		/* modules so far */
} search;

/* The table that a note of the type leads to, NULL = there is none. */
static const struct pmm_shim_table *table_in(const char *note, const char *end, uint32_t type)
{
	struct note n;
	int64_t distance;

	while ((note = note_read(note, end, &n)))
		if (n.type == type && n.name_bytes == sizeof(PMM_SHIM_NOTE_NAME) &&
		    n.desc_bytes == sizeof(distance) && str_equal(n.name, PMM_SHIM_NOTE_NAME)) {
			__builtin_memcpy(&distance, n.desc, sizeof(distance));
			return (const void *)(n.desc + distance);
		}
	return NULL;
}

static const struct pmm_shim_table *table_of(const struct dl_phdr_info *module, uint32_t type)
{
	const struct pmm_shim_table *table = NULL;

	for (unsigned i = 0; i < module->dlpi_phnum && !table; i++) {
		const ElfW(Phdr) *p = &module->dlpi_phdr[i];
		const char *at = (const char *)(module->dlpi_addr + p->p_vaddr);

		if (p->p_type == PT_NOTE)
			table = table_in(at, at + p->p_filesz, type);
	}
	return table;
}

/* Where our own module is: its texts are there as long as we are. */
static void note_own(const struct dl_phdr_info *module)
{
	uint64_t start = UINT64_MAX, end = 0, own = (uint64_t)&full_own_table;

	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &module->dlpi_phdr[i];
		uint64_t at = module->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		start = at < start ? at : start;
		end = at + p->p_memsz > end ? at + p->p_memsz : end;
	}
	if (own < start || own >= end)
		return;
	full_texts_at = start;
	full_texts_bytes = end - start;
}

static int find_in_module(struct dl_phdr_info *module, size_t bytes, void *ctx)
{
	(void)bytes;
	(void)ctx;
	if (!search.found.agent)
		search.found.agent = table_of(module, PMM_SHIM_NOTE_AGENT);
	if (!search.nr++)
		search.found.program = table_of(module, PMM_SHIM_NOTE_COPY);
	note_own(module);
	return 0;
}

void full_find_once(void)
{
	if (!search.nr)
		dl_iterate_phdr(find_in_module, NULL);
}

void full_find(struct full_tables *found)
{
	full_find_once();
	agent.texts_at = full_texts_at;
	agent.texts_bytes = full_texts_bytes;
	*found = search.found;
}
