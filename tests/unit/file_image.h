/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes of a file, for tests that look at whole libraries.
 */
#ifndef TESTS_UNIT_FILE_IMAGE_H
#define TESTS_UNIT_FILE_IMAGE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Mapped until the next file is asked for. NULL: cannot be read. */
static inline const uint8_t *file_image(const char *path, size_t *size)
{
	static struct { char path[256]; const uint8_t *at; size_t size; } now;
	struct stat st;
	int fd;

	if (now.at && !strcmp(now.path, path)) {
		*size = now.size;
		return now.at;
	}
	if (now.at)
		munmap((void *)now.at, now.size);
	now.at = NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st)) {
		void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		now.at = at == MAP_FAILED ? NULL : at;
		now.size = (size_t)st.st_size;
		snprintf(now.path, sizeof(now.path), "%s", path);
	}
	close(fd);
	*size = now.size;
	return now.at;
}

#endif
