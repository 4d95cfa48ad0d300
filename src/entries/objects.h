/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF objects that a process has mapped, as its own memory has them: program, libraries,
 * loader, vdso.
 *
 * Read from memory, not from files: right also for what was deleted, replaced or is in another
 * mount namespace, and a file that shrinks meanwhile cannot hurt. The process may do what it likes:
 * nothing read is trusted.
 */
#ifndef ENTRIES_OBJECTS_H
#define ENTRIES_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

struct object {
	char *path;			/* as in /proc/PID/maps, without " (deleted)" */
	uint64_t bias;			/* address in memory = address in the file + bias */
	uint64_t start, end;		/* of its segments, run-time addresses */
	uint64_t code_start, code_end;	/* of those that are executable */
	uint64_t map_start, map_end;	/* its first mapping */
	uint32_t dev_major, dev_minor;
	uint64_t ino;
	unsigned order;			/* in which symbols are looked for, 0 first */
	bool is_program, is_vdso;
	bool has_loader;		/* asks for a dynamic loader (PT_INTERP) */
	/* of the dynamic section, run-time addresses, 0 = none */
	uint64_t symbols, strings, strings_bytes, hash, gnu_hash, jmprel, jmprel_bytes, debug;
};

struct objects {
	pid_t pid;
	int mem;			/* /proc/PID/mem */
	struct object *v;		/* in link order */
	size_t nr;
	bool linked;			/* the loader's list was there, and complete */
	/* read so far; a process may pretend to have any number of symbols */
	uint64_t symbol_bytes;
};

struct object_symbol {
	const char *name;
	uint64_t address, size;		/* run-time */
	unsigned type;			/* STT_* */
};

/*
 * Read them. 0 or -errno with `e`: -ESRCH, -EACCES, -EAGAIN (it calls exec just now). Release with
 * objects_close() in any case.
 */
int objects_open(pid_t pid, struct objects *o, struct err *e);
void objects_close(struct objects *o);

/* Memory of the process: 0 when all was read, -errno. */
int objects_read(const struct objects *o, uint64_t at, void *to, size_t bytes);

/*
 * Call `each` for every symbol that the object defines in its dynamic symbol table. 0, -errno
 * (nothing there, damaged, far too many).
 */
int object_symbols(struct objects *o, const struct object *object,
		   void (*each)(void *arg, const struct object_symbol *s), void *arg);

/* Name of the symbol to which the PLT slot at address `slot` belongs, in `name` ("" = none). */
void object_slot_name(const struct objects *o, const struct object *object, uint64_t slot,
		      char *name, size_t bytes);

#endif
