/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Object files that say anything at all: looking up addresses in one ends, with frames, and takes
 * no more memory than it may. The limits on both are libFuzzer's own (-rss_limit_mb, -timeout)
 * beside the bounds that are tested here.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/symbol/symbol.h"
#include "src/proc/debugfile.h"

#define MAX_BYTES	(32u << 20)	/* of debug information */
#define MAX_RSS_KB	(1 << 20)	/* with what sanitizers take */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const char *path)
{
	const struct symbolizer_options o = { .full = true,
					      .debug_dirs = "/nonexistent",
					      .max_bytes = MAX_BYTES };
	const struct symbol_module module = { .path = path };
	struct symbolizer *sym = symbolizer_new(&o);
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];

	if (!sym || symbolizer_add(sym, &module) < 0)
		abort();
	for (uint64_t address = 0; address < 0x3000; address += 0x133) {
		int nr = symbol_lookup(sym, 0, address, frames, SYMBOL_FRAMES_MAX);

		if (nr < 1)
			abort();
		for (int i = 0; i < nr; i++)
			if (!frames[i].function ||
			    strlen(frames[i].function) > SYMBOL_MAX_NAME_BYTES)
				abort();
	}
	symbolizer_free(sym);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzzed", MFD_CLOEXEC);
	struct elf_file f;
	struct rusage usage;
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	if (!elf_file_open(&f, path)) {
		if (f.bounds.symbol_bytes > ELF_MAX_SYMBOL_BYTES)
			abort();
		elf_file_close(&f);
	}
	look_up(path);
	close(fd);
	if (!getrusage(RUSAGE_SELF, &usage) && usage.ru_maxrss > MAX_RSS_KB)
		abort();
	return 0;
}
