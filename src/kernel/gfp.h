/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the kernel may allocate (gfp flags), by the names of its own source. */
#ifndef KERNEL_GFP_H
#define KERNEL_GFP_H

#include <stdint.h>

#include "src/base/str.h"

/* "GFP_KERNEL|__GFP_COMP"; bits without a name as a number, "0" where none is set. */
void gfp_add(struct str *s, uint32_t flags);

#endif
