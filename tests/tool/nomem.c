/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded: the N-th allocation of a process fails. The process takes it out of LD_PRELOAD, so
 * that programs it starts have it not; forked children count on.
 *
 * NOMEM=FILE names a file of words of 8 bytes: how many allocations there were, and which of them
 * is to fail (0: none; counted from 1). Those before main() do not count, they are the dynamic
 * loader's and the C library's; nor do those of libdw and libelf, which crash when there is no
 * memory (elfutils 0.188): of the shared ones, and of what the program has of them linked in, whose
 * code the file's other words tell, the start and the end of each piece in the program's file.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes);

static struct counter {
	_Atomic uint64_t made, fails;
	struct { uint64_t start, end; } linked[];
} *counter;

static struct { uintptr_t start, end; } exempt[16];	/* code */
static unsigned nr_exempt;
static uintptr_t program;

static void add_exempt(uintptr_t start, uintptr_t end)
{
	if (nr_exempt == sizeof(exempt) / sizeof(exempt[0]))
		abort();
	exempt[nr_exempt].start = start;
	exempt[nr_exempt++].end = end;
}

static int note_object(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	(void)bytes, (void)arg;
	if (!info->dlpi_name[0] && !program)	/* the first */
		program = info->dlpi_addr;
	if (!strstr(info->dlpi_name, "/libdw") && !strstr(info->dlpi_name, "/libelf"))
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
			add_exempt(start, start + info->dlpi_phdr[i].p_memsz);
	}
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *name = getenv("NOMEM");
	int fd = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
	off_t bytes = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	struct counter *memory = bytes < (off_t)sizeof(struct counter)
					 ? MAP_FAILED
					 : mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
						MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	unsetenv("LD_PRELOAD");
	unsetenv("NOMEM");
	dl_iterate_phdr(note_object, NULL);
	if (memory == MAP_FAILED)
		return;
	for (size_t i = 0; sizeof(*memory) + (i + 1) * sizeof(memory->linked[0]) <= (size_t)bytes;
	     i++)
		add_exempt(program + memory->linked[i].start, program + memory->linked[i].end);
	counter = memory;
}

#define CALLER __builtin_return_address(0)

static int fails(const void *caller)
{
	for (unsigned i = 0; i < nr_exempt; i++)
		if ((uintptr_t)caller >= exempt[i].start && (uintptr_t)caller < exempt[i].end)
			return 0;
	if (!counter || atomic_fetch_add(&counter->made, 1) + 1 != counter->fails)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t bytes)
{
	return fails(CALLER) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	return fails(CALLER) ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *p, size_t bytes)
{
	return fails(CALLER) ? NULL : __libc_realloc(p, bytes);
}

void *reallocarray(void *p, size_t n, size_t bytes)
{
	size_t all;

	if (__builtin_mul_overflow(n, bytes, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return fails(CALLER) ? NULL : __libc_realloc(p, all);
}

void *memalign(size_t alignment, size_t bytes)
{
	return fails(CALLER) ? NULL : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return fails(CALLER) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **p, size_t alignment, size_t bytes)
{
	void *block = fails(CALLER) ? NULL : __libc_memalign(alignment, bytes);

	if (!block)
		return ENOMEM;
	*p = block;
	return 0;
}
