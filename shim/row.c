/* SPDX-License-Identifier: MIT */
/*
 * One block as a row of the table, and as a struct.
 */
/*
 * How often *rest has so many in it, which are taken off. One division for all: by constants each
 * is many instructions.
 */
APART unsigned take_off(uint32_t *rest, uint32_t unit)
{
	uint32_t n = *rest / unit;

	*rest %= unit;
	return (unsigned)n;
}

static void put_block_row(const struct slot *slot)
{
	uint32_t second = slot->time;
	unsigned hour, minute;

	take_off(&second, 86400);
	hour = take_off(&second, 3600);
	minute = take_off(&second, 60);
	put_text("%10u %10zu %p %c      %02u:%02u:%02u  %s(%u)%s\n", (unsigned)slot->number,
		 slot->size, (void *)(uintptr_t)slot->address, slot->entry, hour, minute,
		 (unsigned)second, slot->file, (unsigned)slot->line,
		 slot->state == IDLE ? " idle" : "");
}

static void fill_block(struct pmm_block *block, const struct slot *slot)
{
	block->address = slot->address;
	block->size = slot->size;
	block->file = slot->file;
	block->line = (unsigned)slot->line;
	block->number = (unsigned)slot->number;
	block->time = (unsigned)slot->time;
	block->entry = slot->entry;
}
