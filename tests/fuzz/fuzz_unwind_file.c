/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fuzz target: an ELF file of any bytes as unwinding reads it, and rules by what it says. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/kernel/unwind_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct unwind_file *f)
{
	struct cfi_rule rule;

	for (uint64_t address = f->entry - 64; address != f->entry + 64; address++)
		cfi_rule_find(&f->cfi, unwind_file_pc(f, address), &rule);
	for (unsigned i = 0; i < f->nr_code; i++) {
		uint64_t address = ~f->code[i].vaddr;

		if (!unwind_file_address(f, f->code[i].offset, &address))
			abort();
		cfi_rule_find(&f->cfi, unwind_file_pc(f, address), &rule);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	struct unwind_file f;

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size && !unwind_file_open(&f, fd, "elf")) {
		if (f.bytes <= UNWIND_FILE_MAX_BYTES && !unwind_file_load(&f, fd) && f.cfi.start)
			look_up(&f);
		unwind_file_unload(&f);
	}
	close(fd);
	return 0;
}
