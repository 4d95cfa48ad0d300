/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory for large tables. */
#include "src/base/large.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE	     4096u
#define LARGE_BYTES  (4u << 20)	/* below that few large pages would fit in it */

void *large_calloc(size_t nr, size_t size)
{
	char *p = calloc(nr, size);
	uintptr_t start, end;

	if (!p || nr * size < LARGE_BYTES)
		return p;
	start = ((uintptr_t)p + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	end = ((uintptr_t)p + nr * size) & ~(uintptr_t)(PAGE - 1);
	madvise((void *)start, end - start, MADV_HUGEPAGE);	/* else small ones do */
	return p;
}
