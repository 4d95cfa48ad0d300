/* SPDX-License-Identifier: MIT */
/*
 * The objects the dynamic loader has loaded, read from its own list without calling it.
 */
#ifndef AGENT_PRELOAD_LINK_H
#define AGENT_PRELOAD_LINK_H

#include <stdbool.h>
#include <stdint.h>

/* What glibc and musl agree on; <link.h>. */
struct link_map {
	uint64_t l_addr;
	char *l_name;
	void *l_ld;
	struct link_map *l_next, *l_prev;
};

/* What the kernel passed to the program at its start (AT_*), or 0. */
uint64_t link_aux(uint64_t type);

/* First object of the global list, or NULL when the loader cannot be found. */
struct link_map *link_first(void);

/* Our own object in that list, or NULL. */
struct link_map *link_self(void);

/* A function of the kernel's own object in the process (vdso), or NULL. */
void *link_vdso_symbol(const char *name);

/* Address of a function or variable that this object defines, or NULL. */
void *link_symbol(const struct link_map *map, const char *name);

/*
 * Call `each` for every word of an object that a relocation sets to the address of a function or
 * variable of that name. `call`: of a call, which may be bound when it is first made. `weak`: it
 * is 0 where nobody has the name.
 */
struct link_binding {
	const char *name;
	uint64_t *at;
	bool call, weak;
};
void link_bindings(const struct link_map *map,
		   void (*each)(void *arg, const struct link_binding *b), void *arg);

/*
 * Call `look` with every object that is loaded now and its program headers, until it returns other
 * than 0. Takes a lock of the loader: for functions that do so themselves.
 */
struct link_object {
	struct link_map map;		/* l_addr and l_ld only */
	const void *headers;		/* Elf64_Phdr */
	unsigned nr_headers;
};
void link_each(int (*look)(void *arg, const struct link_object *o), void *arg);

/* The same in the first object from `map` on that has it; *where gets the object when not NULL. */
void *link_symbol_from(struct link_map *map, const char *name, struct link_map **where);

/*
 * The function that comes after ours of that name, looked up when it is first asked for, without a
 * lock, and kept in *known; NULL: none.
 */
void *link_next(void **known, const char *name);

/*
 * A definition in whatever is loaded now but ourselves. Takes a lock of the loader: for rare cases
 * outside of malloc.
 */
void *link_symbol_late(const char *name);

#endif
