/* SPDX-License-Identifier: GPL-2.0-or-later
 * host ONE TWO [TWICE]: loads one module after the other, each with its own copy of the full form, and frees what they give and the other
 * way round. What they gave is listed by their lines, also when they are gone and another one is in their place. TWICE: what a module
 * that is gone has freed is freed again.
 */
#include <pmm.h>
#include <dlfcn.h>
#include <stdio.h>

static void *(*take)(size_t bytes);
static void (*give)(void *p);
static void (*mark)(void *p);
static void *again;

static int list(void *ctx, const struct pmm_block *b)
{
	(void)ctx;
	printf("%c %d of %s(%u)\n", b->entry, (int)b->size, b->file, b->line);
	return 0;
}

static void *with(const char *path, size_t bytes)
{
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL), *p;

	*(void **)&take = dlsym(module, "take");
	*(void **)&give = dlsym(module, "give");
	*(void **)&mark = dlsym(module, "mark");
	free(take(100));
	give(again = malloc(200));
	p = take(bytes);
	mark((char *)p + 1);
	dlclose(module);
	return p;
}

int main(int argc, char **argv)
{
	void *own = malloc(3), *p[2];
	struct pmm_stats stats;

	pmm_set(PMM_AT_EXIT, 0);
	if (argc < 3)
		return 1;
	printf("dlerror: %s\n", dlerror() ? "changed" : "none");
	p[0] = with(argv[1], 10);
	p[1] = with(argv[2], 20);
	pmm_set(PMM_FOREIGN, argc == 3);
	if (argc > 3)
		free(again);
	pmm_each_block(list, NULL);
	pmm_get_stats(&stats);
	printf("%d new, %d live, %d foreign, %d errors\n", (int)stats.nr_new, (int)stats.nr_live, (int)stats.nr_foreign, (int)stats.nr_errors);
	free(p[0]);
	free(p[1]);
	free(own);
	printf("%d bad\n", (int)pmm_check());
	return 0;
}
