/* SPDX-License-Identifier: GPL-2.0-or-later */ /* A library whose variables keep blocks for leak_data and leak_tls. */
#include <stddef.h>

void *lib_data = &lib_data, *lib_bss;

static __thread void *lib_tls;

void **lib_tls_at(void) { return &lib_tls; }
