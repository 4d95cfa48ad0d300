/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash tables: 64-bit number -> 32-bit number, and strings -> small consecutive numbers
 * (interning).
 *
 * All zero is empty. Open addressing, at most 3/4 full, keys scrambled.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Scramble a number; every bit of the result depends on every bit of it. */
uint64_t hash_u64(uint64_t n);
uint64_t hash_bytes(const void *bytes, size_t n);

struct hash_map {
	struct hash_slot *slots;
	size_t nr, room;
};

/* Set key -> value, replacing. 0 or -ENOMEM. */
int hash_put(struct hash_map *m, uint64_t key, uint32_t value);

/* Pointer to the value, valid until the next hash_put(); NULL = none. */
uint32_t *hash_find(const struct hash_map *m, uint64_t key);

/*
 * The value of key, put as `value` first if there was none. *added (may be NULL) says so. NULL when
 * out of memory.
 */
uint32_t *hash_add(struct hash_map *m, uint64_t key, uint32_t value, bool *added);

void hash_fini(struct hash_map *m);

/* Interned strings: equal strings have equal numbers, 0, 1, 2 ... in the order of arrival. */
struct intern {
	char **text;		/* by number; owned, NUL-terminated */
	size_t nr, room;	/* of text */
	uint32_t *slots;	/* number + 1 */
	size_t nr_slots;
};

/* The number of `text`, entered if new. -ENOMEM when out of memory. */
int64_t intern_add(struct intern *t, const char *text);
int64_t intern_addn(struct intern *t, const char *bytes, size_t n);

/* The string of a number; "" for a number never given. */
const char *intern_text(const struct intern *t, uint32_t number);

void intern_fini(struct intern *t);

#endif
