/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: a file of the symbol cache, its checksum made to fit so that what lies behind it is
 * reached.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/symbol/symcache.h"
#include "src/symbol/symcachefile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t read_all(const struct symcache *c)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < c->header->nr_addresses; i++) {
		const struct symcache_frame *f;
		int nr = symcache_find(c, c->addresses[i], &f);

		if (nr < 1)
			abort();	/* sound addresses are in order, so each is found */
		for (int k = 0; k < nr; k++)
			sum += strlen(c->strings + f[k].function) +
			       strlen(c->strings + f[k].linkage) + strlen(c->strings + f[k].file);
	}
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size ? size : 1);
	struct symcache c;

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	if (size >= sizeof(struct symcache_header)) {
		struct symcache_header *h = (struct symcache_header *)bytes;

		h->magic = SYMCACHE_MAGIC;
		h->version = SYMCACHE_VERSION;
		h->checksum = symcache_checksum(&h->version,
						size - offsetof(struct symcache_header, version));
	}
	if (!symcache_parse(&c, bytes, size) && read_all(&c) == SIZE_MAX)
		abort();
	free(bytes);
	return 0;
}
