/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's names that pmm_os.h promises, for a program: one thread at a time.
 */
#ifndef KMOD_PMM_OS_USER_H
#define KMOD_PMM_OS_USER_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

/* A test may set how many allocations succeed before each one fails; negative: all succeed. */
extern long pmm_os_allocs_left;

static inline void *pmm_os_alloc(size_t bytes, bool wait)
{
	(void)wait;
	if (!pmm_os_allocs_left)
		return NULL;
	if (pmm_os_allocs_left > 0)
		pmm_os_allocs_left--;
	return calloc(1, bytes);
}

static inline void pmm_os_free(void *p)
{
	free(p);
}

static inline void *pmm_os_entry_alloc(size_t bytes, bool wait)
{
	return pmm_os_alloc(bytes, wait);
}

static inline void pmm_os_entry_free(void *p)
{
	pmm_os_free(p);
}

static inline u64 pmm_os_rotate(u64 value, unsigned int by)
{
	return value << by | value >> (64 - by);
}

static inline void pmm_os_sip_round(u64 v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = pmm_os_rotate(v[1], 13) ^ v[0];
	v[3] = pmm_os_rotate(v[3], 16) ^ v[2];
	v[0] = pmm_os_rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = pmm_os_rotate(v[1], 17) ^ v[2];
	v[3] = pmm_os_rotate(v[3], 21) ^ v[0];
	v[2] = pmm_os_rotate(v[2], 32);
}

/* SipHash-1-3 (Aumasson, Bernstein: SipHash, a fast short-input PRF, 2012), like the kernel's. */
static inline u32 pmm_os_hash(u64 value, u64 key)
{
	const u64 end = 8ull << 56, key_high = key >> 32;
	u64 v[4] = { key ^ 0x736f6d6570736575ull, key_high ^ 0x646f72616e646f6dull,
		     key ^ 0x6c7967656e657261ull, key_high ^ 0x7465646279746573ull };

	v[3] ^= value;
	pmm_os_sip_round(v);
	v[0] ^= value;
	v[3] ^= end;
	pmm_os_sip_round(v);
	v[0] ^= end;
	v[2] ^= 0xff;
	pmm_os_sip_round(v);
	pmm_os_sip_round(v);
	pmm_os_sip_round(v);
	return (u32)(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

/* Not the kernel's values. */
static inline u32 pmm_os_hash_bytes(const void *bytes, size_t nr, u64 key)
{
	const u8 *at = bytes;
	u32 hash = (u32)nr;

	while (nr) {
		size_t some = nr < 8 ? nr : 8;
		u64 piece = 0;

		memcpy(&piece, at, some);
		hash = pmm_os_hash(piece ^ (u64)hash << 32, key ^ hash);
		at += some;
		nr -= some;
	}
	return hash;
}

static inline void pmm_os_relax(void)
{
}

typedef struct {
	long value;
} atomic_long_t;

#define ATOMIC_LONG_INIT(n)	{ n }

static inline long atomic_long_read(const atomic_long_t *a)
{
	return a->value;
}

static inline long atomic_long_inc_return(atomic_long_t *a)
{
	return ++a->value;
}

static inline void atomic_long_dec(atomic_long_t *a)
{
	a->value--;
}

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define U32_MAX			UINT32_MAX

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)

static inline s64 div64_s64(s64 a, s64 b)
{
	return a / b;
}

#define container_of(ptr, type, member)	((type *)((char *)(ptr) - offsetof(type, member)))

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

/* before `at`: with a list's head, at its end */
static inline void list_add_tail(struct list_head *item, struct list_head *at)
{
	item->prev = at->prev;
	item->next = at;
	at->prev->next = item;
	at->prev = item;
}

static inline void list_add(struct list_head *item, struct list_head *at)
{
	list_add_tail(item, at->next);
}

static inline void list_del_init(struct list_head *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	INIT_LIST_HEAD(item);
}

static inline void list_del(struct list_head *item)
{
	list_del_init(item);
}

#define list_entry(ptr, type, member)		container_of(ptr, type, member)
#define list_first_entry(head, type, member)	list_entry((head)->next, type, member)

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

static inline void hlist_add_head(struct hlist_node *item, struct hlist_head *head)
{
	item->next = head->first;
	if (head->first)
		head->first->pprev = &item->next;
	head->first = item;
	item->pprev = &head->first;
}

static inline void hlist_del(struct hlist_node *item)
{
	*item->pprev = item->next;
	if (item->next)
		item->next->pprev = item->pprev;
}

#define hlist_entry(ptr, type, member)	container_of(ptr, type, member)
#define hlist_entry_of(node, type, member) ((node) ? hlist_entry(node, type, member) : NULL)
#define hlist_for_each_entry(pos, head, member)                                                    \
	for (pos = hlist_entry_of((head)->first, __typeof__(*pos), member); pos;                   \
	     pos = hlist_entry_of(pos->member.next, __typeof__(*pos), member))

#endif
