/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture written whole, whatever signals come. */
#ifndef CMD_WHOLE_H
#define CMD_WHOLE_H

#include "src/base/err.h"
#include "src/model/heap.h"

/* As capture_write(); signals wait meanwhile: one in the middle would leave a part. */
int whole_write(const struct heap *h, const char *name, struct err *e);

#endif
