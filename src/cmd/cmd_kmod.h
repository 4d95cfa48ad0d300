/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of `pmm kmod` that load and unload the module. */
#ifndef CMD_CMD_KMOD_H
#define CMD_CMD_KMOD_H

#include "src/base/err.h"

/* Find the module for this kernel and load it with `nr` words NAME=VALUE. 0 or -errno with `e`. */
int cmd_kmod_load(char *const *words, int nr, struct err *e);

/* 0 or -errno with `e`. */
int cmd_kmod_unload(struct err *e);

#endif
