/* SPDX-License-Identifier: MIT */
/*
 * The full form's lists of what is beside the ledger: retained blocks, marked pointers, blocks with
 * something before them. In the order they came, and by address.
 */
static unsigned chain_bits(const struct slot_list *list)
{
	return list->chain ? list->bits : FEW_BITS;
}

static struct listed **chain_of(struct slot_list *list, const void *p)
{
	uint64_t hash = ((uintptr_t)p >> 3) * 0x9e3779b97f4a7c15ull;

	return &(list->chain ? list->chain : list->few)[hash >> (64 - chain_bits(list))];
}

static void list_chain(struct slot_list *list, struct listed *k)
{
	struct listed **chain = chain_of(list, k->slot.address);

	k->same = *chain;
	*chain = k;
}

/* More chains, for fewer in each; without memory they become longer. */
static void list_grow(struct slot_list *list)
{
	unsigned bits = chain_bits(list) + 2;
	struct listed **chain = (struct listed **)own_memory(sizeof(*chain) << bits), *k;

	if (!chain)
		return;
	list->chain = chain;
	list->bits = bits;
	for (k = list->first; k; k = k->next)
		list_chain(list, k);
}

static void list_add(struct slot_list *list, struct listed *k)
{
	if (list->nr++ >> chain_bits(list))
		list_grow(list);
	list_chain(list, k);
	k->next = NULL;
	k->last = list->last;
	if (list->last)
		list->last->next = k;
	else
		list->first = k;
	list->last = k;
}

/* Take out what has this address; NULL: nothing has. */
static struct listed *list_take(struct slot_list *list, const void *p)
{
	struct listed **chain = chain_of(list, p), *k;

	while (*chain && (*chain)->slot.address != p)
		chain = &(*chain)->same;
	k = *chain;
	if (!k)
		return NULL;
	*chain = k->same;
	*(k->last ? &k->last->next : &list->first) = k->next;
	*(k->next ? &k->next->last : &list->last) = k->last;
	list->nr--;
	return k;
}

static const struct slot *list_find(struct slot_list *list, const void *p)
{
	const struct listed *k = *chain_of(list, p);

	while (k && k->slot.address != p)
		k = k->same;
	return k ? &k->slot : NULL;
}
