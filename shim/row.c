/*
 * One block as a row of the table, and as a struct.
 */
static void put_block_row(const struct slot *slot)
{
	uint32_t second = slot->time % 86400;

	put_text("%10u %10zu %p %c      %02u:%02u:%02u  %s(%u)%s\n", (unsigned)slot->number, slot->size, (void *)(uintptr_t)slot->address, slot->entry,
		(unsigned)(second / 3600), (unsigned)(second / 60 % 60), (unsigned)(second % 60), slot->file, (unsigned)slot->line,
		slot->state == IDLE ? " idle" : "");
}

static void fill_block(struct pmm_block *block, const struct slot *slot)
{
	block->address = slot->address;
	block->size = slot->size;
	block->file = slot->file;
	block->line = slot->line;
	block->number = slot->number;
	block->time = slot->time;
	block->entry = slot->entry;
}
