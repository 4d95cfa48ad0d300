/*
 * Memory that a process keeps from its copies (MADV_DONTFORK: V8's heap, buffers that devices write to), read while all threads stand still:
 * later it would be of another moment than the rest, and what it pointed to then would seem lost.
 */
#ifndef TARGET_WITHHELD_H
#define TARGET_WITHHELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/vec.h"
#include "src/target/proc.h"

struct withheld_piece {
	uint64_t start, end;
	uint8_t *bytes;
};

/* All zero is empty. */
struct withheld {
	VEC(struct withheld_piece) pieces;	/* pages that there are, by address */
};

/* Does a process have memory that its copy has not? By the sizes of both: cheap. When in doubt true. */
bool withheld_any(pid_t pid, pid_t copy);

/* Can a mapping be read like that? Not one of a device, nor one that the process may not read itself. */
bool withheld_readable(const struct proc_map *m);

/* Add the pages there are of a mapping, in order of address. 0, or -errno: it cannot be read, or there is no memory for it. */
int withheld_add(struct withheld *w, pid_t pid, const struct proc_map *m);

/* Read memory of a mapping that was added; pages that there were not are zero. */
void withheld_read(const struct withheld *w, uint64_t address, void *to, size_t bytes);

void withheld_fini(struct withheld *w);

#endif
