/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hash tables with open addressing and linear probing. */
#include "src/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hash_slot {
	uint64_t key;
	uint32_t value;
	uint32_t used;
};

/* Finalizer of splitmix64. */
uint64_t hash_u64(uint64_t n)
{
	n ^= n >> 30;
	n *= 0xbf58476d1ce4e5b9ull;
	n ^= n >> 27;
	n *= 0x94d049bb133111ebull;
	n ^= n >> 31;
	return n;
}

uint64_t hash_bytes(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = hash_u64(n + 0x9e3779b97f4a7c15ull), word;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = hash_u64(h ^ word) + 0x9e3779b97f4a7c15ull;
	}
	word = 0;
	if (n)
		memcpy(&word, p, n);
	return hash_u64(h ^ word);
}

/* The slot of a key or the empty one where it belongs; there is always an empty one. */
static struct hash_slot *slot_of(const struct hash_map *m, uint64_t key)
{
	size_t i = hash_u64(key) & (m->room - 1);

	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & (m->room - 1);
	return &m->slots[i];
}

static int hash_grow(struct hash_map *m)
{
	struct hash_map new = { .nr = m->nr, .room = m->room ? m->room * 2 : 16 };
	size_t i;

	new.slots = calloc(new.room, sizeof(*new.slots));
	if (!new.slots)
		return -ENOMEM;
	for (i = 0; i < m->room; i++)
		if (m->slots[i].used)
			*slot_of(&new, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = new;
	return 0;
}

uint32_t *hash_add(struct hash_map *m, uint64_t key, uint32_t value, bool *added)
{
	struct hash_slot *s;

	if (m->nr + 1 > m->room / 4 * 3 && hash_grow(m))
		return NULL;
	s = slot_of(m, key);
	if (added)
		*added = !s->used;
	if (!s->used) {
		*s = (struct hash_slot){ .key = key, .value = value, .used = 1 };
		m->nr++;
	}
	return &s->value;
}

int hash_put(struct hash_map *m, uint64_t key, uint32_t value)
{
	uint32_t *v = hash_add(m, key, value, NULL);

	if (!v)
		return -ENOMEM;
	*v = value;
	return 0;
}

uint32_t *hash_find(const struct hash_map *m, uint64_t key)
{
	struct hash_slot *s;

	if (!m->nr)
		return NULL;
	s = slot_of(m, key);
	return s->used ? &s->value : NULL;
}

void hash_fini(struct hash_map *m)
{
	free(m->slots);
	*m = (struct hash_map){ 0 };
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool same(const char *text, const char *bytes, size_t n)
{
	return !strncmp(text, bytes, n) && !text[n];
}

static size_t intern_slot(const struct intern *t, const char *bytes, size_t n)
{
	size_t i = hash_bytes(bytes, n) & (t->nr_slots - 1);

	while (t->slots[i] && !same(t->text[t->slots[i] - 1], bytes, n))
		i = (i + 1) & (t->nr_slots - 1);
	return i;
}

static int intern_grow(struct intern *t)
{
	size_t room = t->nr_slots ? t->nr_slots * 2 : 64, i;
	char **text = reallocarray(t->text, room, sizeof(*text));
	uint32_t *slots;

	if (!text)
		return -ENOMEM;
	t->text = text;
	t->room = room;
	slots = calloc(room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->nr_slots = room;
	for (i = 0; i < t->nr; i++)
		slots[intern_slot(t, t->text[i], strlen(t->text[i]))] = (uint32_t)i + 1;
	return 0;
}

int64_t intern_addn(struct intern *t, const char *bytes, size_t n)
{
	char *copy;
	size_t i;

	n = strnlen(bytes, n);
	if (t->nr + 1 > t->nr_slots / 4 * 3 && intern_grow(t))
		return -ENOMEM;
	i = intern_slot(t, bytes, n);
	if (t->slots[i])
		return t->slots[i] - 1;
	copy = strndup(bytes, n);
	if (!copy)
		return -ENOMEM;
	t->text[t->nr++] = copy;
	t->slots[i] = (uint32_t)t->nr;
	return (int64_t)t->nr - 1;
}

int64_t intern_add(struct intern *t, const char *text)
{
	return intern_addn(t, text, strlen(text));
}

const char *intern_text(const struct intern *t, uint32_t number)
{
	return number < t->nr ? t->text[number] : "";
}

void intern_fini(struct intern *t)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		free(t->text[i]);
	free(t->text);
	free(t->slots);
	*t = (struct intern){ 0 };
}
