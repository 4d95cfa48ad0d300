/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the files of the symbol cache are and how they are sealed: shared by its reader and its
 * writer.
 */
#ifndef SYMBOL_SYMCACHEFILE_H
#define SYMBOL_SYMCACHEFILE_H

#include <stddef.h>
#include <stdint.h>

#define SYMCACHE_MAX_BYTES	(256 << 20)	/* larger files are neither written nor read */

uint64_t symcache_checksum(const void *bytes, size_t size);

/* DIR/BUILDID + suffix, from malloc(). NULL when out of memory. */
char *symcache_path(const char *dir, const uint8_t *id, size_t len, const char *suffix);

#endif
