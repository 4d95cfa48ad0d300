/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the drivers share that run a victim again and again and compare what pmm says with the truth
 * that the victim keeps, in a file that both map: kill_driver, readers_driver.
 *
 *	NAME PMM VICTIM DIRECTORY CASES SEED [FIRST [TURNS]]
 *
 * FIRST: the number of the first case, 0 (to repeat one). TURNS: in each case, what the victim does
 * beside its work.
 */
#ifndef TESTS_PROG_TRUTH_DRIVER_H
#define TESTS_PROG_TRUTH_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/heap.h"

#define TRUTH_STOP_NS		30000000000u	/* until all threads of the victim must be stopped */
#define TRUTH_PATIENCE_MS	60000		/* for what must come */
#define TRUTH_NO_GROUP		UINT32_MAX

/* What was asked for. */
struct truth_cases {
	const char *pmm, *victim;
	const char *turns;		/* NULL: as each case draws them */
	unsigned nr, first;
	uint64_t seed;
};

/* Goes to the directory. False: these are no such arguments; it has said what they are. */
bool truth_arguments(int argc, char **argv, struct truth_cases *c);

/* An empty truth in the file of that name, mapped. */
void *truth_new(const char *name, size_t bytes);

/* What is to be ended when the driver fails. */
extern void (*truth_end)(void);

/* A line; the driver ends. */
void truth_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* A line. */
void truth_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One more figure is wrong; the first ones are printed. */
void truth_wrong(unsigned *nr_wrong, const char *format, ...) __attribute__((format(printf, 2, 3)));

void truth_nap_us(unsigned us);

/* To be called again and again until `what` is there: a millisecond passes, or it fails. */
void truth_wait(unsigned *ms, const char *what);

/* The victim's functions: leaves, which call the allocator, then links above them. */
struct truth_code {
	const uint64_t *starts;
	unsigned nr_leaves, nr_links;
	uint64_t end;
};

/* The group of the site's leaf and link: leaf * nr_links + link. TRUTH_NO_GROUP: of others. */
uint32_t truth_group(const struct truth_code *code, const struct heap *h, const struct heap_site *s);

#endif
