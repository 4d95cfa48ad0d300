/* Compiled without PMM: the same object code with the header as without it. */
#ifdef HEADER
#include <pmm.h>
#endif
#include <stdlib.h>
#include <string.h>

struct list { struct list *next; char *name; };

struct list *add(struct list *list, const char *name, int *count)
{
	struct list *item = malloc(sizeof(*item));

#ifdef HEADER
	pmm_trace("adding %s\n", name);
	pmm_assert(item != NULL && ++*count);
	pmm_check();
	pmm_report(PMM_ALL);
	pmm_set(PMM_LIMIT, 1000);
#endif
	if (!item)
		return list;
	item->next = list;
	item->name = strdup(name);
#ifdef HEADER
	pmm_mark(item->name);
#else
	(item->name);
#endif
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
