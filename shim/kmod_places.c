/* SPDX-License-Identifier: MIT */
/*
 * The numbers that the kernel module has given to places in the source, by the addresses of their
 * texts. The table is read and filled without a lock.
 */
#define KMOD_NO_ID	UINT32_MAX	/* a row whose number is being asked for */
#define KMOD_NO_SITE	(UINT32_MAX - 1)	/* ... whose number the module did not give */

/* Of texts that may go, others coming in their place: tells them apart. The form may define it. */
#ifndef KMOD_TEXT
#define KMOD_TEXT(at)	0
#endif

static void kmod_copy(char *to, size_t size, const char *text)
{
	size_t len = text ? strlen(text) : 0, skip = 0;

	if (len >= size)	/* the end of a path says more than its begin */
		skip = len - size + 1;
	if (text)
		memcpy(to, text + skip, len - skip);
}

/* Of a row that is this thread's to fill in. */
static void kmod_ask_id(struct kmod_site *row, const struct at *at, uint32_t text)
{
	struct pmm_kmod_site site;

	memset(&site, 0, sizeof(site));
	site.size = sizeof(site);
	site.version = PMM_KMOD_VERSION;
	site.line = at->line;
	kmod_copy(site.file, sizeof(site.file), at->file);
	kmod_copy(site.function, sizeof(site.function), at->func);
	row->file = at->file;
	row->func = at->func;
	row->text = text;
	row->line = at->line;
	if (kmod_call(PMM_ADD_SITE, &site) < 0 || !site.id)
		site.id = KMOD_NO_SITE;
	__atomic_store_n(&row->id, site.id, __ATOMIC_RELEASE);
}

static uint32_t kmod_hash(const struct at *at)
{
	uintptr_t key = (uintptr_t)at->file * 31 + (uintptr_t)at->func + at->line * 2654435761u;

	return (uint32_t)(key ^ key >> 12);
}

HOT int kmod_is_of(const struct kmod_site *row, const struct at *at, uint32_t text)
{
	return row->file == at->file && row->func == at->func && row->line == at->line &&
	       row->text == text;
}

/* The number of a place, not at its first row. 0: it has none. */
COLD uint32_t kmod_search_site(const struct at *at, uint32_t text, uint32_t first)
{
	uint32_t i;

	for (i = 0; i < PMM_KMOD_SITES; i++) {
		struct kmod_site *row = &kmod.site[(first + i) & (PMM_KMOD_SITES - 1)];
		uint32_t id = __atomic_load_n(&row->id, __ATOMIC_ACQUIRE);

		if (!id && __atomic_compare_exchange_n(&row->id, &id, KMOD_NO_ID, 0,
						       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			kmod_ask_id(row, at, text);
			id = row->id;
		} else if (id == KMOD_NO_ID || !kmod_is_of(row, at, text)) {
			continue;	/* a place twice has the same number twice */
		}
		return id == KMOD_NO_SITE ? 0 : id;
	}
	return 0;
}

HOT uint32_t kmod_site_id(const struct at *at)
{
	uint32_t text = KMOD_TEXT(at), first = kmod_hash(at) & (PMM_KMOD_SITES - 1);
	const struct kmod_site *row = &kmod.site[first];
	uint32_t id = __atomic_load_n(&row->id, __ATOMIC_ACQUIRE);

	return id && id < KMOD_NO_SITE && kmod_is_of(row, at, text)
		       ? id
		       : kmod_search_site(at, text, first);
}
