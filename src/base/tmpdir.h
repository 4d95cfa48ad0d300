/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory for files of a while, in TMPDIR or /tmp, which its owner alone may enter.
 */
#ifndef BASE_TMPDIR_H
#define BASE_TMPDIR_H

#include "src/base/err.h"

/* Make pmm-NAME-XXXXXX. 0 with its path in *dir, the caller's; or -errno with `e`, *dir NULL. */
int tmpdir_make(const char *name, char **dir, struct err *e);

/* Remove it with all that is in it, but for directories; frees `dir`. NULL is fine. */
void tmpdir_remove(char *dir);

#endif
