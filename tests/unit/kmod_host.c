/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kmod/pmm_os_user.h leaves to the program. */
#include "kmod/pmm_os.h"

long pmm_os_allocs_left = -1;
