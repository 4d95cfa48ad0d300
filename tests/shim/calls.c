/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Every entry once and more: calls.table. 10 blocks stay, of 12 that are made and not resized; one size overflows and fails. */
#include "order.h"

int main(void)
{
	char *kept[10];
	void *aligned = NULL;
	volatile size_t huge = (size_t)-1 / 2;
	size_t i;

	BEGIN();
	for (i = 0; i < 3; i++)
		kept[i] = (char *)malloc(10 * (i + 1));
	kept[3] = (char *)calloc(5, 20);
	kept[4] = (char *)realloc(malloc(40), 4000);
	kept[5] = strdup("twelve bytes");
	kept[6] = strndup("twelve bytes", 6);
	kept[7] = (char *)aligned_alloc(64, 128);
	if (posix_memalign(&aligned, 256, 100) || (size_t)aligned % 256 || (size_t)kept[7] % 64)
		return 1;
	kept[8] = (char *)aligned;
	kept[9] = (char *)reallocarray(NULL, 100, 3000);
	for (i = 0; i < 100; i++)
		if (kept[3][i] || strcmp(kept[5], "twelve bytes") || strcmp(kept[6], "twelve"))
			return 2;
	if (calloc(huge, 4) || reallocarray(NULL, huge, huge))
		return 3;
	free(malloc(1000));
	free(NULL);
	free(realloc(NULL, 17));
	free(memalign(64, 33));
	pmm_report(PMM_ALL);
	for (i = 0; i < 10; i++)
		free(kept[i]);
	return 0;
}
