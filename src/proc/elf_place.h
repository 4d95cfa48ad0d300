/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a file that a process has mapped lies in its memory, by the file's program headers. */
#ifndef PROC_ELF_PLACE_H
#define PROC_ELF_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "src/proc/proc.h"

struct elf_place {
	uint64_t bias;		/* run-time address = ELF address + bias */
	uint8_t build_id[64];
	size_t build_id_len;	/* 0: none */
};

/*
 * What the file at `path` says of a mapping of it: addresses and offset in the file. 0; -errno as
 * elf_file_open(); -ENOEXEC where no segment that is loaded is in that part of the file.
 */
int elf_place_read(const char *path, const struct proc_map *map, struct elf_place *out);

#endif
