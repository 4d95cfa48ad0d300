/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The monitor's sign of life. */
#include "src/track/pulse.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(((struct pmm_tree *)0)->life) == 2 * sizeof(uint32_t), "the word is a futex");

int pulse_take(struct pulse *l, struct pmm_tree *board, unsigned i)
{
	memset(l, 0, sizeof(*l));
	if (i >= 2)
		return -EINVAL;
	if (syscall(SYS_get_robust_list, 0, &l->before, &l->before_bytes))
		return -errno;
	l->node.next = &l->head.list;
	l->head.list.next = &l->node;
	l->head.futex_offset = (char *)&board->life[i] - (char *)&l->node;
	if (syscall(SYS_set_robust_list, &l->head, sizeof(l->head)))
		return -errno;
	l->word = &board->life[i];
	/*
	 * the word, then which of them counts: the one that counts belongs to a thread at every
	 * moment
	 */
	__atomic_store_n(l->word, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	__atomic_store_n(&board->life_at, i, __ATOMIC_RELEASE);
	return 0;
}

void pulse_drop(struct pulse *l)
{
	if (!l->word)
		return;
	__atomic_store_n(l->word, 0, __ATOMIC_RELEASE);
	/*
	 * with its old value this can fail no more than it did then; and the word is not ours any
	 * more
	 */
	syscall(SYS_set_robust_list, l->before, l->before_bytes);
	memset(l, 0, sizeof(*l));
}
