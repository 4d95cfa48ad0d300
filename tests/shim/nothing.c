/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Compiled without PMM, with the header and without it: the same object code, no warning, and values as somebody without a monitor expects. */
#ifdef HEADER
#include <pmm.h>
#define ONLY_WITH(statement) statement
#else
#define ONLY_WITH(statement)
#endif
#include <stdlib.h>
#include <string.h>

struct list { struct list *next; char *name; };

#ifndef __OPTIMIZE__	/* then compilers keep variables that are not used, and functions that only dead code mentions */
#define write_nowhere NULL
#define ask_nobody NULL
#define look_at NULL
#define variable (*count)
#elif defined(HEADER)
#define variable unused
static void write_nowhere(void *ctx, const char *text, size_t bytes) { (void)ctx; (void)text; (void)bytes; }
static int ask_nobody(void *ctx, const char *text) { (void)ctx; return text != NULL; }
static int look_at(void *ctx, const struct pmm_block *block) { (void)ctx; return block->line != 0; }
#endif

struct list *add(struct list *list, const char *name, int *count)
{
	struct list *item = (struct list *)malloc(sizeof(*item));
#if defined(HEADER) && defined(__OPTIMIZE__)
	int unused = 5;
#endif

	ONLY_WITH(pmm_enable());
	ONLY_WITH(pmm_disable());
	ONLY_WITH(pmm_set(PMM_LIMIT, 1000));
	ONLY_WITH(pmm_set_output(write_nowhere, NULL));
	ONLY_WITH(pmm_set_react(ask_nobody, &variable));
	ONLY_WITH(pmm_flush());
	ONLY_WITH(pmm_each_block(look_at, NULL));
	ONLY_WITH(pmm_report(PMM_ALL));
	ONLY_WITH(pmm_report_fd(2, PMM_ALL));
	ONLY_WITH(pmm_report_to(write_nowhere, NULL, PMM_BLOCKS));
	ONLY_WITH(pmm_report_on(1, PMM_BLOCKS));
	ONLY_WITH(pmm_check());
	ONLY_WITH(pmm_check_block(item));
	ONLY_WITH((void)pmm_readable(name, (size_t)variable));
	ONLY_WITH((void)pmm_writable(name, (size_t)variable));
	ONLY_WITH(pmm_grab(100));
	ONLY_WITH(pmm_drop(100));
	ONLY_WITH(pmm_trace("adding %s, %d\n", name, variable));
	ONLY_WITH(pmm_assert(item != NULL && ++*count));
	if (!item)
		return list;
	item->next = list;
	item->name = strdup(name);
	ONLY_WITH(pmm_mark(item->name));
	ONLY_WITH(pmm_unmark(item->name));
	*count += 1;
	return item;
}

void drop(struct list *list)
{
	struct list *next;

	for (; list; list = next) {
		next = list->next;
		free(list->name);
		free(list);
	}
}

#ifdef VALUES
int main(void)
{
	struct pmm_stats stats;
	struct pmm_heap heap;
	struct pmm_pool pool;
	int count = 0, nr_evaluated = 0;
	char *text = (char *)pmm_mark(&count), *block;
	void *aligned = NULL;

	pmm_get_stats(&stats);
	drop(add(NULL, "one", &count));
	pmm_pool_init(&pool, 64, 5);
	block = (char *)pmm_pool_get(&pool);
	pmm_pool_put(&pool, block);
	pmm_pool_fini(&pool);
	block = (char *)pmm_malloc(PMM_HERE, 10);
	block = (char *)pmm_realloc(PMM_HERE, block, 20);
	pmm_free(PMM_HERE, block);
	pmm_free(PMM_HERE, pmm_calloc(PMM_HERE, 3, 4));
	free(pmm_strdup(PMM_HERE, pmm_strndup(PMM_HERE, "a leak", 1)));
	free(pmm_reallocarray(PMM_HERE, NULL, 2, 3));
	if (pmm_posix_memalign(PMM_HERE, &aligned, 64, 10) || (size_t)aligned % 64)
		return 5;
	pmm_free(PMM_HERE, aligned);
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
	pmm_free(PMM_HERE, pmm_aligned_alloc(PMM_HERE, 64, 128));
#endif
	pmm_assert(nr_evaluated++);
	pmm_trace("%d", nr_evaluated++);
	pmm_check_block((nr_evaluated++, block));
	pmm_verify(nr_evaluated += 100);
	if (pmm_set(PMM_LIMIT, 5) || pmm_check() || pmm_grab(7) || pmm_drop(7) || pmm_each_block(look_at, NULL) || pmm_report_on(1, 2))
		return 1;
	if (!pmm_readable(text, 4) || !pmm_writable(text, 4) || pmm_readable(NULL, 1) || pmm_unmark(text) != &count)
		return 2;
	if (stats.nr_new || stats.bytes_peak || stats.slots || !pmm_get_heap(&heap) || heap.bytes || pool.size != 64)
		return 3;
	return count == 1 && nr_evaluated == 100 ? 0 : 4;
}
#endif
