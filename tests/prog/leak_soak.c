/* SPDX-License-Identifier: GPL-2.0-or-later
 * Threads that allocate, link, hand on, unlink and free as fast as they can, for as long as standard input is open; each block is at all times
 * reachable: from a list, a tree, a mailbox, or a thread's registers and stack. Whatever a search says is lost is a false alarm.
 *
 * With "kept" the lists begin in memory that a child of the process does not get (MADV_DONTFORK), with "wiped" in such that it gets empty
 * (MADV_WIPEONFORK), with "shared" in such that it shares. At the end it counts what is linked:
 * "blocks N".
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "attach.h"

enum { THREADS = 4, LISTS = 64, MAILBOXES = 32, LONGEST = 200 };

struct node {
	struct node *next, *before;
	struct node *child[2];
	char bytes[];
};

static struct node *_Atomic mailbox[MAILBOXES];
static struct own {
	struct node *list[LISTS];
	unsigned nr[LISTS];
	unsigned long random;
} *own;
static atomic_int stop;

static unsigned long next_random(struct own *o)
{
	o->random = o->random * 6364136223846793005ul + 1442695040888963407ul;
	return o->random >> 33;
}

SITE static struct node *new_node(struct own *o)
{
	struct node *n = malloc(sizeof(*n) + next_random(o) % 300);

	memset(n, 0, sizeof(*n));
	return n;
}

SITE static void free_node(struct node *n)
{
	if (!n)
		return;
	free_node(n->child[0]);
	free_node(n->child[1]);
	free(n);
}

/* In front of a list; at most it has twins below it. */
SITE static void push(struct own *o, unsigned i, struct node *n)
{
	n->next = o->list[i];
	n->before = NULL;
	if (n->next)
		n->next->before = n;
	o->list[i] = n;
	o->nr[i]++;
}

SITE static struct node *pop(struct own *o, unsigned i)
{
	struct node *n = o->list[i];

	if (!n)
		return NULL;
	o->list[i] = n->next;
	if (n->next)
		n->next->before = NULL;
	n->next = NULL;
	o->nr[i]--;
	return n;
}

SITE static void grow(struct own *o, unsigned i)
{
	struct node *n = new_node(o);

	n->child[0] = next_random(o) % 2 ? new_node(o) : NULL;
	n->child[1] = next_random(o) % 2 ? new_node(o) : NULL;
	push(o, i, n);
}

/* Give one away, take what another thread gave. */
SITE static void exchange(struct own *o, unsigned i)
{
	struct node *n = atomic_exchange(&mailbox[next_random(o) % MAILBOXES], pop(o, i));

	if (n)
		push(o, i, n);
}

SITE static void replace(struct own *o, unsigned i)
{
	struct node *n = o->list[i], *bigger;

	if (!n)
		return;
	bigger = realloc(n, sizeof(*n) + next_random(o) % 3000);
	o->list[i] = bigger;
	if (bigger->next)
		bigger->next->before = bigger;
}

static void *work(void *arg)
{
	struct own *o = arg;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		unsigned i = (unsigned)next_random(o) % LISTS;

		switch (next_random(o) % 4) {
		case 0:
			exchange(o, i);
			break;
		case 1:
			replace(o, i);
			break;
		case 2:
			free_node(pop(o, i));
			break;
		default:
			if (o->nr[i] < LONGEST)
				grow(o, i);
		}
	}
	return NULL;
}

static unsigned long count(const struct node *n)
{
	return n ? 1 + count(n->child[0]) + count(n->child[1]) : 0;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	unsigned long blocks = 0;

	const char *how = argc > 1 ? argv[1] : "";
	bool shared = !strcmp(how, "shared");

	own = mmap(NULL, THREADS * sizeof(*own), PROT_READ | PROT_WRITE, (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1, 0);
	if (how[0] && !shared)
		madvise(own, THREADS * sizeof(*own), how[0] == 'k' ? MADV_DONTFORK : MADV_WIPEONFORK);

	say("ready\n");
	for (int i = 0; i < THREADS; i++) {
		own[i].random = (unsigned long)i + 1;
		pthread_create(&t[i], NULL, work, &own[i]);
	}
	while (order())
		say("done\n");
	atomic_store(&stop, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < MAILBOXES; i++)
		blocks += count(mailbox[i]);
	for (int i = 0; i < THREADS; i++)
		for (int k = 0; k < LISTS; k++)
			for (const struct node *n = own[i].list[k]; n; n = n->next)
				blocks += count(n);
	say_number("blocks ", blocks);
	exit(0);
}
