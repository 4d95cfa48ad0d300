/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * include/linux/gfp_types.h, whose first 23 bits have the same numbers from 5.10 to 6.18; those
 * above depend on how the kernel was built and have no name here.
 */
#include "src/kernel/gfp.h"

#include <stddef.h>

#define BITS(X)                                                                                    \
	X(DMA) X(HIGHMEM) X(DMA32) X(MOVABLE) X(RECLAIMABLE) X(HIGH) X(IO) X(FS) X(ZERO)           \
	X(ATOMIC) X(DIRECT_RECLAIM) X(KSWAPD_RECLAIM) X(WRITE) X(NOWARN) X(RETRY_MAYFAIL)          \
	X(NOFAIL) X(NORETRY) X(MEMALLOC) X(COMP) X(NOMEMALLOC) X(HARDWALL) X(THISNODE) X(ACCOUNT)

#define NUMBER(name) BIT_##name,
#define FLAG(name) name = 1u << BIT_##name,
#define NAME(name) { name, "__GFP_" #name },
enum { BITS(NUMBER) };
enum { BITS(FLAG) };

/* Combinations, the larger ones first. */
#define RECLAIM (DIRECT_RECLAIM | KSWAPD_RECLAIM)
#define KERNEL (RECLAIM | IO | FS)
#define USER (KERNEL | HARDWALL)
#define HIGHUSER_MOVABLE (USER | HIGHMEM | MOVABLE)
#define HUGE_LIGHT ((HIGHUSER_MOVABLE | COMP | NOMEMALLOC | NOWARN) & ~RECLAIM)

static const struct {
	uint32_t flags;
	const char *name;
} names[] = {
	{ HUGE_LIGHT | DIRECT_RECLAIM, "GFP_TRANSHUGE" },
	{ HUGE_LIGHT, "GFP_TRANSHUGE_LIGHT" },
	{ HIGHUSER_MOVABLE, "GFP_HIGHUSER_MOVABLE" },
	{ USER | HIGHMEM, "GFP_HIGHUSER" },
	{ USER, "GFP_USER" },
	{ KERNEL | ACCOUNT, "GFP_KERNEL_ACCOUNT" },
	{ KERNEL, "GFP_KERNEL" },
	{ RECLAIM | IO, "GFP_NOFS" },
	{ HIGH | ATOMIC | KSWAPD_RECLAIM, "GFP_ATOMIC" },
	{ HIGH | KSWAPD_RECLAIM, "GFP_ATOMIC" },
	{ RECLAIM, "GFP_NOIO" },
	{ KSWAPD_RECLAIM, "GFP_NOWAIT" },
	BITS(NAME)
};

void gfp_add(struct str *s, uint32_t flags)
{
	uint32_t left = flags;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if ((left & names[i].flags) != names[i].flags)
			continue;
		str_addf(s, "%s%s", left == flags ? "" : "|", names[i].name);
		left &= ~names[i].flags;
	}
	if (left || !flags)
		str_addf(s, left == flags ? "%#x" : "|%#x", left);
}
