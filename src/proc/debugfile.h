/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Separate debug files: by build id, by .gnu_debuglink, from debuginfod servers when asked for;
 * and.gnu_debugdata.
 */
#ifndef PROC_DEBUGFILE_H
#define PROC_DEBUGFILE_H

#include "src/base/cancel.h"
#include "src/proc/elffile.h"

/*
 * Of a file whose checksum is taken because .gnu_debuglink names it: that reads all of it, at some
 * GB a second. Larger ones are not used.
 */
#define DEBUG_LINK_MAX_BYTES	(4ull << 30)
#define DEBUG_LINKS_MAX_BYTES	(16ull << 30)	/* of all together */

/*
 * A connection to the servers that DEBUGINFOD_URLS names, made by the client library at the first
 * need. All zero is fine. How long a server may take is the client library's DEBUGINFOD_TIMEOUT.
 */
struct debug_server {
	bool tried;
	void *client;		/* NULL: none, or no client library */
	int (*find)(void *client, const unsigned char *id, int len, char **path);
	void (*end)(void *client);
};

void debug_server_fini(struct debug_server *d);

struct debug_search {
	char *dirs;		/* ':' between */
	struct debug_server *server;	/* asked for what is in no directory; NULL: not */
	/*
	 * gets the first error that says nothing of a file (elf_file_unseen()); NULL: not wanted
	 */
	int *error;
	struct stop stop;	/* ends checksums: the file is not used then */
	/* checksums were taken of so many bytes; NULL = that is not counted */
	uint64_t *link_bytes;
};

/* Open DIR/.build-id/xx/yyyy + suffix, only if its build id is that. 0 or -ENOENT. */
int debug_file_by_id(const struct debug_search *s, const uint8_t *id, size_t len,
		     const char *suffix, struct elf_file *out);

/* Open the debug file that belongs to a build id, or to `main` (NULL: not there). 0 or -ENOENT. */
int debug_file_find(const struct debug_search *s, const struct elf_file *main, const uint8_t *id,
		    size_t len, struct elf_file *out);

/*
 * Open the file with shared DWARF that `f` refers to (dwz, .gnu_debugaltlink). 0, -ENODATA if it
 * refers to none, -ENOENT, or what elf_file_unseen() knows.
 */
int debug_file_alt(const struct debug_search *s, const struct elf_file *f, struct elf_file *out);

/*
 * Unpack the symbols in .gnu_debugdata. 0, -ENODATA if there are none, -EBADMSG, another -errno
 * when they cannot be looked at.
 */
int debug_file_mini(const struct elf_file *f, struct elf_file *out);

#endif
