/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a hand-made ledger as the product does, for tests that expect it to succeed.
 */
#ifndef TESTS_UNIT_LEDGER_READ_H
#define TESTS_UNIT_LEDGER_READ_H

#include "tests/unit/unit.h"

#include "src/ledger/ledger_heap.h"
#include "src/ledger/ledger_map.h"
#include "tests/unit/ledger_image.h"

/*
 * The image's heap, checked; owned by the caller. Fails the test when it cannot be read or is not
 * sound.
 */
static inline struct heap *read_with(struct image *im, struct ledger_options *o)
{
	struct ledger_map *m = NULL;
	struct heap *h = NULL;
	struct err e = { 0 };
	char why[128];

	if (ledger_map_open_fd(im->fd, IMAGE_SLOT, &m, &e) || ledger_read(m, o, &h, &e))
		fail_msg("%s", e.text);
	ledger_map_close(m);
	if (heap_check(h, why, sizeof(why)))
		fail_msg("%s", why);
	return h;
}

/* How much of the image read last was left out, or nonsense. */
static uint64_t damaged;

static inline struct heap *read_image(struct image *im)
{
	struct ledger_options o = { .damaged = &damaged };

	return read_with(im, &o);
}

#endif
