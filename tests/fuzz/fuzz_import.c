/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzz target: profiles of other tools. Whatever comes out of one is a heap that heap_check()
 * accepts.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct heap *h = NULL;
	enum heap_tool tool;
	char path[64], why[160];
	int fd = memfd_create("profile", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	tool = import_recognise(path);
	if (tool != HEAP_TOOL_PMM && !import_read(path, tool, 64u << 20, &h, NULL)) {
		if (heap_check(h, why, sizeof(why)))
			abort();
		heap_free(h);
	}
	close(fd);
	return 0;
}
