/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of a .pmm capture, version 1, as doc/capture-format.md describes it: shared by its
 * writer and its reader.
 *
 *	header | section | section | ... | table of contents (a section) | end mark
 *
 * Tables of the heap are stored column by column; what columns a section has is defined once, in
 * file_format.c.
 */
#ifndef STORE_FILE_FORMAT_H
#define STORE_FILE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "src/base/err.h"
#include "src/model/heap.h"
#include "src/model/heap_lifetimes.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "structures are written as they are in memory");

#define FILE_MAGIC	"\x89PMM\r\n\x1a\n"
#define FILE_END_MAGIC	"\x89" "END"
#define FILE_MAJOR	1
#define FILE_MINOR	11

struct file_header {
	uint8_t magic[8];
	uint16_t major, minor;
	uint8_t reserved[16];
	uint32_t crc;			/* of all before it; CRC-32 as in zlib */
};

enum file_section_flags {
	FILE_ZSTD	= 1 << 0,	/* the payload is one zstd frame */
	FILE_REQUIRED	= 1 << 1,	/* a reader that does not know this section must give up */
};

struct file_section {
	char id[4];
	uint32_t flags;			/* enum file_section_flags */
	uint64_t stored_bytes;		/* of the payload, which follows */
	uint64_t raw_bytes;		/* of the payload, decompressed */
	uint64_t count;			/* rows */
	uint32_t payload_crc;		/* of the payload as stored */
	uint32_t crc;			/* of all before it */
};

/* The table of contents: section "TOC ", not compressed, one entry per section before it. */
struct file_toc_entry {
	uint64_t offset;		/* of the section's header in the file */
	struct file_section section;
};

struct file_end {
	uint64_t toc_offset;
	uint32_t crc;			/* of all before it */
	char magic[4];
};

_Static_assert(sizeof(struct file_header) == 32 && sizeof(struct file_section) == 40 &&
	       sizeof(struct file_toc_entry) == 48 && sizeof(struct file_end) == 16, "layout");

/* How a column's numbers are written: a byte of this, then ... */
enum file_coding {
	FILE_PLAIN,		/* unit, value / unit ... */
	FILE_DELTA,		/* unit, zigzag(value / unit - the one before) ... */
	FILE_CONSTANT,		/* value */
	FILE_NR_CODINGS,
};

/* A field of the rows of a table. */
struct file_column {
	uint16_t offset;		/* in the row */
	uint8_t bytes;			/* 1, 2, 4, 8 */
	bool is_bool;
	bool lived;			/* a site's lifetimes: `offset` is their bucket */
};

enum file_table_number {
	FILE_HEAD,
	FILE_CLASSES,
	FILE_MODULES,
	FILE_THREADS,
	FILE_FRAMES,
	FILE_NODES,
	FILE_SITES,
	FILE_MAP_SITES,
	FILE_BLOCKS,
	FILE_MAPS,
	FILE_POINTS,
	FILE_SITE_POINTS,
	FILE_SEARCH,
	FILE_LEAKS, /* both or none; since 1.1 */
	FILE_CHECK,
	FILE_FINDINGS, /* both or none; since 1.2 */
	FILE_SRCLOCS, /* since 1.3 */
	FILE_COVERAGE, /* since 1.4; only with FILE_CHECK */
	FILE_DEATH, /* since 1.4 */
	FILE_MISSED, /* since 1.4 */
	FILE_FIGURES, /* since 1.5 */
	FILE_RESIDENT, /* since 1.5 */
	FILE_KERNEL,
	FILE_KERNEL_KINDS,
	FILE_KERNEL_ROWS,
	FILE_KERNEL_BINS, /* all four or none; since 1.6 */
	FILE_KERNEL_FAULTS, /* since 1.7; only with FILE_KERNEL */
	FILE_KMOD, /* since 1.7 */
	FILE_KMOD_SUMS, /* since 1.8; only with FILE_KMOD */
	FILE_USAGE,
	FILE_USAGE_POINTS, /* both or none; since 1.9 */
	FILE_MARKS, /* since 1.9 */
	FILE_SPACE, /* since 1.10 */
	FILE_OWN, /* since 1.11 */
	FILE_NR_TABLES,
};

/* A section of version 1 and the table in struct heap it holds. */
struct file_table {
	char id[5];
	const char *name;		/* for messages */
	uint64_t max_rows;
	size_t row_bytes;
	/* offsetof(struct heap, the pointer); 0: not an array of the heap */
	size_t array;
	size_t nr;			/* offsetof(struct heap, the number of rows) */
	size_t nr_size;			/* 4 or 8 */
	const struct file_column *column;
	unsigned nr_columns;
	/* may be missing; readers that do not know it skip it */
	bool optional;
};

extern const struct file_table file_tables[FILE_NR_TABLES];

/* Is its one row a part of struct heap itself? */
static inline bool file_is_of_heap(const struct file_table *t)
{
	return t->row_bytes == sizeof(struct heap);
}

/* A frame as section FRAM holds them: each (module, pc) once. */
struct file_frame {
	uint64_t pc;
	uint32_t module;
	uint32_t reserved;
};

#define FILE_MAX_SECTIONS	64		/* before the table of contents */
#define FILE_MAX_TEXT		(16u << 20)	/* bytes of a string */

/* Memory that a file of `file_bytes` can fill: what is declared beyond it is a lie. */
uint64_t file_budget(uint64_t file_bytes);

/* CRC-32 of more bytes; begin with 0. */
uint32_t file_crc(uint32_t crc, const void *bytes, size_t n);

/*
 * Write a heap to a file open for writing from its start; read one from a file open for reading
 * (memory, see fmemopen(), will do) of `file_bytes` with at most `max_bytes` of memory, and as much
 * as such a file can fill. `name` is for messages.
 */
int file_write_heap(const struct heap *h, FILE *f, const char *name, struct err *e);
int file_read_heap(FILE *f, uint64_t file_bytes, uint64_t max_bytes, const char *name,
		   struct heap **out, struct err *e);

#endif
