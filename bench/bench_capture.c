/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a made-up capture of a given size, for timing `pmm report`:
 *
 *     bench_capture FILE BLOCKS SITES
 */
#include <stdio.h>

#include "src/base/err.h"
#include "src/store/capture.h"

int main(int argc, char **argv)
{
	struct heap *heap = NULL;
	struct err e = { 0 };
	char recipe[200];

	if (argc != 4) {
		fputs("usage: bench_capture FILE BLOCKS SITES\n", stderr);
		return 2;
	}
	snprintf(recipe, sizeof(recipe),
		 "generate sites=%s blocks=%s depth=20 modules=40 points=500\n", argv[3], argv[2]);
	if (capture_fake.read(recipe, UINT64_MAX, &heap, &e) || capture_write(heap, argv[1], &e)) {
		fprintf(stderr, "bench_capture: %s\n", e.text);
		return 3;
	}
	heap_free(heap);
	return 0;
}
