/* SPDX-License-Identifier: GPL-2.0-or-later */ /* The header before or after the C library's own, as the test says; output to standard output. */
#ifdef HEADER_LAST
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <pmm.h>
#else
#include <pmm.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#endif

#ifdef PMM
static void to_stdout(void *ctx, const char *text, size_t bytes)
{
	fwrite(text, 1, bytes, (FILE *)ctx);
}
#define BEGIN() (setvbuf(stdout, NULL, _IOLBF, 0), pmm_set_output(to_stdout, stdout))
#else
#include <malloc.h>
#define BEGIN() ((void)0)
#endif
