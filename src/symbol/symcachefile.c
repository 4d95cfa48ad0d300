/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a file of the symbol cache is, and what it is sealed with. */
#include "src/symbol/symcachefile.h"

#include <string.h>

#include "src/base/str.h"

uint64_t symcache_checksum(const void *bytes, size_t size)
{
	const uint8_t *p = bytes;
	uint64_t h = 0x9e3779b97f4a7c15ull ^ size;

	for (; size >= 8; p += 8, size -= 8) {
		uint64_t w;

		memcpy(&w, p, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	for (; size; p++, size--)
		h = (h ^ *p) * 0x100000001b3ull;
	return h ^ h >> 29;
}

char *symcache_path(const char *dir, const uint8_t *id, size_t len, const char *suffix)
{
	struct str s = STR_INIT;

	str_addf(&s, "%s/", dir);
	for (size_t i = 0; i < len; i++)
		str_addf(&s, "%02x", id[i]);
	str_add(&s, suffix);
	return str_steal(&s);
}
