/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbol answers kept on disk, one file per build id: the writer. The format is in symcache.h.
 */
#include "src/symbol/symcache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/hash.h"
#include "src/base/vec.h"
#include "src/symbol/symcachefile.h"

struct symcache_writer {
	VEC(uint64_t) addresses;
	VEC(uint32_t) first;
	VEC(struct symcache_frame) frames;
	struct intern strings;		/* number 0 is "" */
	VEC(uint32_t) offsets;		/* of strings, by number */
	uint64_t strings_bytes;
	int error;
};

static uint32_t add_string(struct symcache_writer *w, const char *text)
{
	int64_t number = intern_add(&w->strings, text ? text : "");

	if (number < 0) {
		w->error = -ENOMEM;
		return 0;
	}
	if ((size_t)number == w->offsets.nr) {
		if (vec_push(&w->offsets, (uint32_t)w->strings_bytes))
			w->error = -ENOMEM;
		w->strings_bytes += strlen(text ? text : "") + 1;
		if (w->strings_bytes > SYMCACHE_MAX_BYTES)
			w->error = -EFBIG;
	}
	return w->error ? 0 : w->offsets.v[number];
}

struct symcache_writer *symcache_writer_new(void)
{
	struct symcache_writer *w = calloc(1, sizeof(*w));

	if (w)
		add_string(w, "");
	return w;
}

void symcache_writer_free(struct symcache_writer *w)
{
	if (!w)
		return;
	vec_fini(&w->addresses);
	vec_fini(&w->first);
	vec_fini(&w->frames);
	vec_fini(&w->offsets);
	intern_fini(&w->strings);
	free(w);
}

void symcache_add_address(struct symcache_writer *w, uint64_t address)
{
	if (vec_push(&w->addresses, address) || vec_push(&w->first, (uint32_t)w->frames.nr))
		w->error = -ENOMEM;
}

void symcache_add_frame(struct symcache_writer *w, const char *function, const char *linkage,
			const char *file, uint32_t line, uint64_t offset, uint32_t flags)
{
	struct symcache_frame f = { .line = line, .offset = offset, .flags = flags };

	f.function = add_string(w, function);
	f.linkage = add_string(w, linkage);
	f.file = add_string(w, file);
	if (vec_push(&w->frames, f))
		w->error = -ENOMEM;
}

/* All bytes of the file, from malloc(). NULL when out of memory. */
static uint8_t *lay_out(struct symcache_writer *w, const struct symcache_header *h, size_t *size)
{
	size_t first = sizeof(*h) + 8 * w->addresses.nr;
	size_t frames = (first + 4 * (w->addresses.nr + 1) + 7) & ~(size_t)7;
	size_t strings = frames + sizeof(struct symcache_frame) * w->frames.nr;
	struct symcache_header *header;
	uint8_t *bytes;

	*size = strings + w->strings_bytes;
	bytes = *size <= SYMCACHE_MAX_BYTES ? calloc(1, *size) : NULL;
	if (!bytes)
		return NULL;
	header = memcpy(bytes, h, sizeof(*h));
	if (w->addresses.nr) {
		memcpy(bytes + sizeof(*h), w->addresses.v, 8 * w->addresses.nr);
		memcpy(bytes + first, w->first.v, 4 * w->first.nr);
		memcpy(bytes + frames, w->frames.v, sizeof(struct symcache_frame) * w->frames.nr);
	}
	memcpy(bytes + first + 4 * w->addresses.nr, &h->nr_frames, 4);
	for (size_t i = 0; i < w->offsets.nr; i++)
		strcpy((char *)bytes + strings + w->offsets.v[i],
		       intern_text(&w->strings, (uint32_t)i));
	header->checksum = symcache_checksum(&header->version,
					     *size - offsetof(struct symcache_header, version));
	return bytes;
}

static int make_directories(const char *dir)
{
	char *path = strdup(dir);
	int rc = path ? 0 : -ENOMEM;

	for (char *slash = path; !rc && slash; ) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			rc = -errno;
		if (slash)
			*slash = '/';
	}
	free(path);
	return rc;
}

static int write_file(const char *path, const uint8_t *bytes, size_t size)
{
	int rc = 0, fd;

	unlink(path);	/* left by a process that had our number */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	for (size_t done = 0; !rc && done < size; ) {
		ssize_t n = write(fd, bytes + done, size - done);

		if (n < 0)
			rc = -errno;
		else
			done += (size_t)n;
	}
	if (close(fd) && !rc)
		rc = -errno;
	if (rc)
		unlink(path);
	return rc;
}

int symcache_write(struct symcache_writer *w, const char *dir, const uint8_t *id, size_t len,
		   const struct symcache_source *source)
{
	struct symcache_header h = { .magic = SYMCACHE_MAGIC,
				     .version = SYMCACHE_VERSION,
				     .source = *source };
	char suffix[48], *temporary = NULL, *path = NULL;
	uint8_t *bytes = NULL;
	size_t size;
	int rc = w->error;

	if (!rc && (len > sizeof(h.build_id) || w->frames.nr > UINT32_MAX))
		rc = -EFBIG;
	if (rc)
		return rc;
	h.nr_addresses = (uint32_t)w->addresses.nr;
	h.nr_frames = (uint32_t)w->frames.nr;
	h.strings_bytes = (uint32_t)w->strings_bytes;
	h.build_id_len = (uint32_t)len;
	memcpy(h.build_id, id, len);
	snprintf(suffix, sizeof(suffix), ".%d.tmp", (int)getpid());
	bytes = lay_out(w, &h, &size);
	path = symcache_path(dir, id, len, "");
	temporary = symcache_path(dir, id, len, suffix);
	if (!bytes || !path || !temporary)
		rc = -ENOMEM;
	if (!rc)
		rc = make_directories(dir);
	if (!rc)
		rc = write_file(temporary, bytes, size);
	if (!rc && rename(temporary, path)) {
		rc = -errno;
		unlink(temporary);
	}
	free(bytes);
	free(path);
	free(temporary);
	return rc;
}
