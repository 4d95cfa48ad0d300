/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the capture that a recipe (fake.c) spells out:
 *
 *	mkcapture RECIPE OUT.pmm
 */
#include <stdio.h>

#include "src/store/capture.h"
#include "tests/fake/fake.h"

int main(int argc, char **argv)
{
	struct heap *h = NULL;
	struct err e = { 0 };
	int rc;

	if (argc != 3) {
		fputs("usage: mkcapture RECIPE OUT.pmm\n", stderr);
		return 2;
	}
	rc = fake_load(argv[1], &h, &e);
	if (!rc)
		rc = capture_write(h, argv[2], false, &e);
	if (rc)
		fprintf(stderr, "mkcapture: %s\n", e.text);
	heap_free(h);
	return rc ? 3 : 0;
}
