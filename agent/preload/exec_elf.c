/* SPDX-License-Identifier: MIT */
/*
 * An executable file, read in pieces: header, program headers, dynamic section, names of libraries.
 * Whatever it says, reads and steps are bounded.
 */
#include "agent/preload/exec_elf.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/sys.h"
#include "arch/elf_arch.h"
#include "include/pmm/channel.h"

#define MOST_HEADERS	64
#define HEADERS		4	/* at a time */
#define MOST_DYNAMIC	512
#define DYNAMIC		8	/* at a time */

struct image {
	int fd;
	bool has_loader;
	Elf64_Ehdr e;
	Elf64_Phdr dynamic;
	uint64_t nr_loads;
	struct { uint64_t start, bytes, offset; } load[8];
};

static long read_some(int fd, void *to, size_t bytes, uint64_t offset)
{
	return sys4(pread64, fd, to, bytes, offset);
}

static void take_header(struct image *im, const Elf64_Phdr *ph)
{
	im->has_loader |= ph->p_type == PT_INTERP;
	if (ph->p_type == PT_DYNAMIC)
		im->dynamic = *ph;
	if (ph->p_type != PT_LOAD || im->nr_loads >= sizeof(im->load) / sizeof(*im->load))
		return;
	im->load[im->nr_loads].start = ph->p_vaddr;
	im->load[im->nr_loads].bytes = ph->p_filesz;
	im->load[im->nr_loads++].offset = ph->p_offset;
}

/* Apart from what looks at the dynamic section, so that the stack holds one of both at a time. */
static __attribute__((noinline)) void read_headers(struct image *im)
{
	Elf64_Phdr ph[HEADERS];

	for (unsigned i = 0; i < im->e.e_phnum && i < MOST_HEADERS; i += HEADERS) {
		unsigned n = im->e.e_phnum - i < HEADERS ? im->e.e_phnum - i : HEADERS;

		if (read_some(im->fd, ph, n * sizeof(*ph), im->e.e_phoff + i * sizeof(*ph)) !=
		    (long)(n * sizeof(*ph)))
			return;
		for (unsigned j = 0; j < n; j++)
			take_header(im, &ph[j]);
	}
}

static uint64_t offset_of(const struct image *im, uint64_t address)
{
	for (uint64_t i = 0; i < im->nr_loads; i++)
		if (address - im->load[i].start < im->load[i].bytes)
			return address - im->load[i].start + im->load[i].offset;
	return 0;
}

/* Is it the shared runtime of that sanitizer, gcc's ("libasan.so.8") or clang's? */
static bool is_runtime(const char *library, const char *sanitizer)
{
	size_t n = str_length(sanitizer);

	if (str_starts(library, "libclang_rt."))
		return str_starts(library + sizeof("libclang_rt.") - 1, sanitizer);
	return str_starts(library, "lib") && str_starts(library + 3, sanitizer) &&
	       library[3 + n] == '.';
}

/*
 * enum pmm_exec of a program that needs the library with this name. AddressSanitizer's start-up
 * code ends the program when its library is not the first one that is loaded; where its malloc is
 * not called LeakSanitizer finds no leaks, and ThreadSanitizer crashes.
 */
static uint32_t judge_library(const struct image *im, uint64_t name)
{
	char text[32] = "";

	if (read_some(im->fd, text, sizeof(text) - 1, name) <= 0)
		return PMM_EXEC_TRACKED;
	if (is_runtime(text, "asan") || is_runtime(text, "hwasan"))
		return PMM_EXEC_SANITIZER;
	if (exec_elf_bypasses && is_runtime(text, "lsan"))
		return PMM_EXEC_LEAK_SANITIZER;
	return exec_elf_bypasses && is_runtime(text, "tsan") ? PMM_EXEC_THREAD_SANITIZER
							     : PMM_EXEC_TRACKED;
}

/*
 * Walk the dynamic section: find the strings' offset in the file where *strings is 0, else look at
 * the libraries that are needed, up to the first that is in the way.
 */
static uint32_t walk_dynamic(const struct image *im, uint64_t *strings)
{
	uint64_t nr = im->dynamic.p_filesz / sizeof(Elf64_Dyn);
	bool look = *strings;
	uint32_t why;
	Elf64_Dyn d[DYNAMIC];

	for (uint64_t i = 0; i < nr && i < MOST_DYNAMIC; i += DYNAMIC) {
		uint64_t n = nr - i < DYNAMIC ? nr - i : DYNAMIC;

		if (read_some(im->fd, d, n * sizeof(*d), im->dynamic.p_offset + i * sizeof(*d)) !=
		    (long)(n * sizeof(*d)))
			return PMM_EXEC_TRACKED;
		for (uint64_t j = 0; j < n && d[j].d_tag != DT_NULL; j++) {
			if (!look && d[j].d_tag == DT_STRTAB)
				*strings = offset_of(im, d[j].d_un.d_ptr);
			if (!look || d[j].d_tag != DT_NEEDED)
				continue;
			why = judge_library(im, *strings + d[j].d_un.d_val);
			if (why != PMM_EXEC_TRACKED)
				return why;
		}
	}
	return PMM_EXEC_TRACKED;
}

static uint32_t judge_needed(const struct image *im)
{
	uint64_t strings = 0;

	walk_dynamic(im, &strings);
	return strings ? walk_dynamic(im, &strings) : PMM_EXEC_TRACKED;
}

/* The loader itself, executed as a program, reads LD_PRELOAD as well. */
static bool is_loader(const char *path)
{
	const char *base = path;

	for (const char *s = path; *s; s++)
		if (*s == '/')
			base = s + 1;
	return str_starts(base, "ld-") || str_starts(base, "ld.so");
}

uint32_t exec_elf(int fd, const char *path)
{
	struct image im = { .fd = fd };
	const unsigned char *id = im.e.e_ident;

	if (read_some(fd, &im.e, sizeof(im.e), 0) != sizeof(im.e) || id[0] != 0x7f ||
	    id[1] != 'E' || id[2] != 'L' || id[3] != 'F')
		return PMM_EXEC_TRACKED;
	if (arch_elf_is_32bit(im.e.e_machine, id[EI_CLASS]))
		return PMM_EXEC_32BIT;
	if (im.e.e_machine != ARCH_ELF_MACHINE || id[EI_CLASS] != ELFCLASS64)
		return PMM_EXEC_FOREIGN;
	read_headers(&im);
	if (!im.has_loader && !is_loader(path))
		return PMM_EXEC_STATIC;
	return judge_needed(&im);
}
