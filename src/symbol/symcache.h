/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbol answers kept on disk, one file per build id, so that a report opens quickly the second
 * time.
 *
 * The file, little endian, all offsets from 0:
 *	struct symcache_header		104 bytes
 *	u64 address[nr_addresses]	ELF addresses, ascending
 *	u32 first[nr_addresses + 1]	index of the address's first frame; the last is nr_frames
 *	u32 0				only if needed to align what follows to 8
 *	struct symcache_frame frame[nr_frames]
 *	char strings[strings_bytes]	NUL-terminated, the first is ""
 * The checksum is over all that follows it. A file that is damaged, of another version or about
 * other files is ignored.
 */
#ifndef SYMBOL_SYMCACHE_H
#define SYMBOL_SYMCACHE_H

#include <stddef.h>
#include <stdint.h>

#define SYMCACHE_MAGIC		0x31434d53504d4d50ull	/* "PMMPSMC1" */
#define SYMCACHE_VERSION	4
#define SYMCACHE_BUILD_ID_MAX	32

/* The files that the answers came from; all zero: none. */
struct symcache_source {
	uint64_t main_bytes;
	int64_t main_mtime_ns;
	uint64_t debug_bytes;
	int64_t debug_mtime_ns;
};

struct symcache_header {
	uint64_t magic;
	uint64_t checksum;
	uint32_t version;
	uint32_t nr_addresses, nr_frames, strings_bytes;
	uint32_t build_id_len;
	uint32_t reserved;
	uint8_t build_id[SYMCACHE_BUILD_ID_MAX];
	struct symcache_source source;
};

enum { SYMCACHE_INLINED = 1 };

struct symcache_frame {
	uint32_t function, linkage, file;	/* offsets into strings; 0: none */
	uint32_t line;
	uint64_t offset;
	uint32_t flags;
	uint32_t reserved;
};

struct symcache {
	const struct symcache_header *header;
	const uint64_t *addresses;
	const uint32_t *first;
	const struct symcache_frame *frames;
	const char *strings;
};

/*
 * Check a file's bytes; on success c points into them. 0 or -EBADMSG. The bytes must be aligned to
 * 8.
 */
int symcache_parse(struct symcache *c, const void *bytes, size_t size);

/* Read DIR/BUILDID. 0 (release with symcache_fini()), -ENOENT, -EBADMSG, -ENOMEM or -errno. */
int symcache_read(struct symcache *c, const char *dir, const uint8_t *id, size_t len);

/* Number of frames kept for an address, *frames the first; 0 = address not there. */
int symcache_find(const struct symcache *c, uint64_t address, const struct symcache_frame **frames);

void symcache_fini(struct symcache *c);

/* What is to be written. All zero is empty; add in ascending order of address. */
struct symcache_writer;
struct symcache_writer *symcache_writer_new(void);
void symcache_writer_free(struct symcache_writer *w);

/*
 * Begin the next address / add a frame to it (NULL strings: none). Errors are reported by
 * symcache_write().
 */
void symcache_add_address(struct symcache_writer *w, uint64_t address);
void symcache_add_frame(struct symcache_writer *w, const char *function, const char *linkage,
			const char *file, uint32_t line, uint64_t offset, uint32_t flags);

/* Write DIR/BUILDID (temporary file, then renamed); makes the directories. 0 or -errno. */
int symcache_write(struct symcache_writer *w, const char *dir, const uint8_t *id, size_t len,
		   const struct symcache_source *source);

#endif
