/* SPDX-License-Identifier: GPL-2.0-or-later
 * What pmm_trace() makes of sizes smaller than an int and of what it does not print; and a pool's idle block
 * that is resized.
 */
#include <pmm.h>
#include <stdio.h>

static void put(void *ctx, const char *text, size_t bytes)
{
	(void)ctx;
	fwrite(text, 1, bytes, stdout);
}

int main(void)
{
	struct pmm_pool pool;
	void *p, *q;

	pmm_set(PMM_AT_EXIT, 0);
	pmm_set_output(put, NULL);
	pmm_trace("%02hhx %hhd %hu %hd %hhx\n", (signed char)-1, (signed char)-7, (unsigned short)65535, (short)-3, (unsigned char)7);
	pmm_trace("[%*d] [%-4d] [%Lf] %s\n", 4, 3, 3, 1.5L, "text");
	pmm_pool_init(&pool, 40, 2);
	p = pmm_pool_get(&pool);
	pmm_pool_put(&pool, p);
	pmm_set_output(NULL, NULL);
	freopen("/dev/null", "w", stderr);
	q = realloc(p, 4000);
	pmm_set_output(put, NULL);
	p = pmm_pool_get(&pool);
	memset(p, 1, 40);
	pmm_pool_put(&pool, p);
	pmm_pool_fini(&pool);
	printf("resized: %d\n", q != NULL);
	return 0;
}
