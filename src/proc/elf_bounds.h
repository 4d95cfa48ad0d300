/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What reading an ELF file would take, judged by its headers before libelf and libdw see it: they
 * believe the sizes that a file states, and allocate as much.
 */
#ifndef PROC_ELF_BOUNDS_H
#define PROC_ELF_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * libelf allocates 250 bytes for a section header of 64. Linked files have a hundred at most; 65280
 * need an extension of the format.
 */
#define ELF_MAX_SECTIONS	65536u

/*
 * Of a segment with notes, which is read whole for the build id. Linkers write a few hundred bytes.
 */
#define ELF_MAX_NOTE_BYTES	(16ull << 20)

/*
 * Of symbol tables with their strings, together. The largest browsers and compilers have 0.5 GiB.
 */
#define ELF_MAX_SYMBOL_BYTES	(1ull << 30)

/*
 * Of debug sections as they are read, unfolded where they are compressed. The debug files of the
 * largest browsers have 3 GiB.
 */
#define ELF_MAX_DEBUG_BYTES	(4ull << 30)

/*
 * Of .gnu_debuglink and .gnu_debugaltlink, which hold a file's name; of .gnu_debugdata as stored: a
 * distribution's largest has 2 MiB.
 */
#define ELF_MAX_LINK_BYTES	65536u
#define ELF_MAX_MINI_BYTES	(64ull << 20)

/*
 * Compressed sections of a file unfold to at most so many times their stored size, together, or to
 * the floor if that is more. DWARF unfolds to 2 to 6 times; zlib can state a thousand times, zstd
 * any number.
 */
#define ELF_UNFOLD_RATIO	32u
#define ELF_UNFOLD_FLOOR	(64ull << 20)

struct elf_bounds {
	uint64_t symbol_bytes;		/* of symbol tables, string tables and notes */
	/*
	 * of the other sections that are not loaded, unfolded; UINT64_MAX: they unfold to more than
	 * makes sense
	 */
	uint64_t debug_bytes;
};

/*
 * Judge an open file, or the `bytes` in memory at `image` (fd -1 then). 0, -ENOEXEC when it is no
 * 64-bit little-endian ELF file, -EFBIG when its headers ask for more than these bounds allow,
 * another -errno when it cannot be read.
 */
int elf_bounds_read(int fd, const void *image, uint64_t bytes, struct elf_bounds *out);

#endif
