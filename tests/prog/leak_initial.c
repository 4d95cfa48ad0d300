/* SPDX-License-Identifier: GPL-2.0-or-later */ /* A library that is loaded with the program, whose thread-local variable keeps blocks for leak_tls. */
#include <stddef.h>

__thread void *leak_initial __attribute__((tls_model("initial-exec"))) = NULL;
