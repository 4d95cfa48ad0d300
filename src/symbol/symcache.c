/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbol answers kept on disk, one file per build id: the reader. The format is in the header.
 */
#include "src/symbol/symcache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/vec.h"
#include "src/symbol/symcachefile.h"

_Static_assert(sizeof(struct symcache_header) == 104, "the format is fixed");
_Static_assert(sizeof(struct symcache_frame) == 32, "the format is fixed");

/* Do all numbers in the arrays stay in their bounds and order? */
static bool arrays_are_sound(const struct symcache *c)
{
	const struct symcache_header *h = c->header;

	if (c->first[0] != 0 || c->first[h->nr_addresses] != h->nr_frames)
		return false;
	for (uint32_t i = 0; i < h->nr_addresses; i++) {
		if (c->first[i] >= c->first[i + 1] || (i && c->addresses[i - 1] >= c->addresses[i]))
			return false;
	}
	for (uint32_t i = 0; i < h->nr_frames; i++) {
		const struct symcache_frame *f = &c->frames[i];

		if (f->function >= h->strings_bytes || f->linkage >= h->strings_bytes ||
		    f->file >= h->strings_bytes)
			return false;
	}
	return !c->strings[0] && !c->strings[h->strings_bytes - 1];
}

int symcache_parse(struct symcache *c, const void *bytes, size_t size)
{
	const struct symcache_header *h = bytes;
	const uint8_t *p = bytes;
	uint64_t addresses, first, frames;

	*c = (struct symcache){ 0 };
	if (size < sizeof(*h) || h->magic != SYMCACHE_MAGIC || h->version != SYMCACHE_VERSION ||
	    !h->strings_bytes)
		return -EBADMSG;
	if (h->build_id_len > SYMCACHE_BUILD_ID_MAX)
		return -EBADMSG;
	addresses = sizeof(*h);
	first = addresses + 8 * (uint64_t)h->nr_addresses;
	frames = (first + 4 * ((uint64_t)h->nr_addresses + 1) + 7) & ~7ull;
	if (frames + sizeof(struct symcache_frame) * (uint64_t)h->nr_frames + h->strings_bytes !=
	    size)
		return -EBADMSG;
	if (h->checksum !=
	    symcache_checksum(&h->version, size - offsetof(struct symcache_header, version)))
		return -EBADMSG;
	c->header = h;
	c->addresses = (const void *)(p + addresses);
	c->first = (const void *)(p + first);
	c->frames = (const void *)(p + frames);
	c->strings = (const void *)(p + frames +
				    sizeof(struct symcache_frame) * (uint64_t)h->nr_frames);
	if (arrays_are_sound(c))
		return 0;
	*c = (struct symcache){ 0 };
	return -EBADMSG;
}

static void *read_all(int fd, size_t size)
{
	uint8_t *bytes = malloc(size ? size : 1);
	size_t done = 0;

	while (bytes && done < size) {
		ssize_t n = read(fd, bytes + done, size - done);

		if (n <= 0) {
			free(bytes);
			return NULL;
		}
		done += (size_t)n;
	}
	return bytes;
}

int symcache_read(struct symcache *c, const char *dir, const uint8_t *id, size_t len)
{
	char *path = symcache_path(dir, id, len, "");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	int rc = path ? -errno : -ENOMEM;
	struct stat st;
	void *bytes;

	*c = (struct symcache){ 0 };
	free(path);
	if (fd < 0)
		return rc;
	rc = -EBADMSG;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > SYMCACHE_MAX_BYTES)
		goto out;
	bytes = read_all(fd, (size_t)st.st_size);
	if (!bytes)
		goto out;
	rc = symcache_parse(c, bytes, (size_t)st.st_size);
	if (!rc && (c->header->build_id_len != len || memcmp(c->header->build_id, id, len)))
		rc = -EBADMSG;
	if (rc) {
		*c = (struct symcache){ 0 };
		free(bytes);
	}
out:
	close(fd);
	return rc;
}

int symcache_find(const struct symcache *c, uint64_t address, const struct symcache_frame **frames)
{
	size_t nr = c->header ? c->header->nr_addresses : 0,
	       i = array_while(c->addresses, nr, p, *p < address);

	if (i == nr || c->addresses[i] != address)
		return 0;
	*frames = &c->frames[c->first[i]];
	return (int)(c->first[i + 1] - c->first[i]);
}

void symcache_fini(struct symcache *c)
{
	free((void *)c->header);
	*c = (struct symcache){ 0 };
}
