/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ELF file as unwinding needs it: where its code lies, and its call frame information read into
 * memory.
 *
 * The information is used where it was read to, which is not where a process has it: addresses of
 * the file become addresses there by unwind_file_pc(). All that it says is relative, so that makes
 * no difference; what is not (no linker writes it) gives no rule.
 *
 * Files are outside data: they are read, never mapped, and all sizes are bounded.
 */
#ifndef KERNEL_UNWIND_FILE_H
#define KERNEL_UNWIND_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/unwind/cfi.h"
#include "src/proc/elffile.h"

#define UNWIND_FILE_SEGMENTS	16
/* Of call frame information. The largest browsers have 15 MiB. */
#define UNWIND_FILE_MAX_BYTES	(64u << 20)

struct unwind_segment {
	uint64_t offset, bytes;		/* in the file */
	uint64_t vaddr;			/* ELF address of the first byte */
};

struct unwind_file {
	struct unwind_segment code[UNWIND_FILE_SEGMENTS];
	unsigned nr_code;
	/* ELF addresses where the program starts, and of .init and .fini; 0: none */
	uint64_t entry, init, fini;
	uint8_t build_id[ELF_FILE_BUILD_ID_MAX];
	size_t build_id_len;		/* 0: none */
	/*
	 * Where the information is: [vaddr, vaddr + bytes) of ELF addresses at `offset` of the
	 * file; 0 bytes: there is none. hdr and frame as in struct cfi_module, but ELF addresses.
	 */
	uint64_t vaddr, offset, bytes;
	uint64_t hdr, hdr_bytes, frame, frame_bytes;
	bool too_large;			/* it is not read */
	struct cfi_module cfi;		/* once loaded; start 0: not loaded */
};

/*
 * Read the headers of an open file, which stays the caller's. 0; -ENOEXEC: no ELF file of this
 * processor, or a damaged one; another -errno: it cannot be looked at.
 */
int unwind_file_open(struct unwind_file *f, int fd, const char *path);

/* The same of the kernel's own library, which is no file; it is loaded as well. -ENOENT: none. */
int unwind_file_open_vdso(struct unwind_file *f);

/*
 * The same of a file that has an ELF file as it is in memory, from its first or second page on:
 * pmm's agent in a process that it is attached to. -ENOEXEC: it is none.
 */
int unwind_file_open_image(struct unwind_file *f, int fd);

/*
 * Read the call frame information. 0 also when there is none; -ENOMEM, or -EIO: the file is not
 * what it was.
 */
int unwind_file_load(struct unwind_file *f, int fd);
void unwind_file_unload(struct unwind_file *f);

/* The ELF address of code at an offset of the file. False: no code is there. */
bool unwind_file_address(const struct unwind_file *f, uint64_t offset, uint64_t *address);

/* A loaded file's ELF address as f->cfi counts. */
static inline uint64_t unwind_file_pc(const struct unwind_file *f, uint64_t address)
{
	return f->cfi.start + (address - f->vaddr);
}

#endif
