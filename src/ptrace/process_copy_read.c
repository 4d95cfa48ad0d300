/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a process copy's memory: where it is, and what need not be read. */
#include <string.h>

#include "src/base/str.h"
#include "src/ptrace/process_copy.h"
#include "src/ptrace/process_copy_priv.h"

#define PAGE		4096ull
/* of whole pages, as much as pages_find() looks at anywhere in search of one */
#define LOOK_BYTES	(256ull << 20)

/* How much of [address, address + bytes) is alike: with pages that are brought, or without. */
static uint64_t brought_part(const struct process_copy_state *state, uint64_t address,
			     uint64_t bytes, bool *brought)
{
	size_t i = vec_while(&state->brought, p, p->end <= address);
	uint64_t end = i == state->brought.nr ? UINT64_MAX : state->brought.v[i].start;

	*brought = end <= address;
	if (*brought)
		end = state->brought.v[i].end;
	return end - address < bytes ? end - address : bytes;
}

/* How much of it is there at an address, in a row. */
static size_t pages_in_row(const struct process_copy_state *state, uint64_t address, size_t bytes)
{
	struct page_runs there = { 0 };
	size_t found = 0;

	if (!pages_find(state->pages, address & ~(PAGE - 1),
			(address + bytes + PAGE - 1) & ~(PAGE - 1), false, 0, &there) &&
	    there.nr && there.v[0].start <= address)
		found = there.v[0].end - address < bytes ? there.v[0].end - address : bytes;
	vec_fini(&there);
	return found;
}

/*
 * Of the process itself, which is stopped. What would not be brought meanwhile is not waited for.
 */
static size_t read_held(const struct process_copy_state *state, uint64_t address, void *to,
			size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		bool brought;
		size_t part = brought_part(state, address + done, bytes - done, &brought), n;

		n = brought ? pages_in_row(state, address + done, part) : part;
		n = n ? stop_read_some(state->task, state->mem, address + done, (char *)to + done,
				       n)
		      : 0;
		done += n;
		if (n < part)
			break;
	}
	return done;
}

size_t process_copy_read(const struct process_copy *s, uint64_t address, void *to, size_t bytes)
{
	const struct process_copy_state *state = s->state;
	size_t done = 0;

	if (!s->copy)
		return read_held(state, address, to, bytes);
	while (done < bytes) {
		uint8_t *here = (uint8_t *)to + done;
		size_t part = bytes - done, n;
		const uint8_t *held;
		enum apart_where where = apart_find(&state->apart, address + done, &part, &held);

		n = part;
		if (where == APART_HELD)
			memcpy(here, held, part);
		else if (where == APART_ZERO)
			memset(here, 0, part);
		else if (where == APART_IN_PROCESS)
			n = stop_read_some(state->task, state->mem, address + done, here, part);
		else
			n = stop_read_some(s->copy, state->copy_mem, address + done, here, part);
		done += n;
		if (n < part)
			break;
	}
	return done;
}

/*
 * The mapping at an address, if what it has no pages of is zero: memory of the process's own, not a
 * file's. NULL: none.
 */
static const struct proc_map *map_own(const struct proc_maps *maps, uint64_t address)
{
	size_t low = 0, high = maps->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (maps->v[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == maps->nr || maps->v[low].start > address || maps->v[low].ino ||
	    maps->v[low].perms & PROC_MAP_SHARED)
		return NULL;
	return !maps->v[low].path[0] || !strcmp(maps->v[low].path, "[heap]") ||
			       str_starts(maps->v[low].path, "[anon:")
		       ? &maps->v[low]
		       : NULL;
}

uint64_t process_copy_untouched(const struct process_copy *s, uint64_t address, uint64_t bytes)
{
	const struct process_copy_state *state = s->state;
	const struct proc_map *m = map_own(&s->maps, address);
	struct page_runs first = { 0 };
	uint64_t end, found = 0;
	size_t part;
	int fd = state->pages;

	if (!m)
		return 0;
	end = m->end - address < bytes ? m->end : address + bytes;
	part = LOOK_BYTES - (address & (PAGE - 1));
	part = end - address < part ? end - address : part;
	if (s->copy) {
		const uint8_t *held;
		enum apart_where where = apart_find(&state->apart, address, &part, &held);

		if (where == APART_HELD || where == APART_ZERO)
			return where == APART_ZERO ? part : 0;
		fd = where == APART_IN_PROCESS ? state->pages : state->copy_pages;
	} else {
		bool brought;

		part = brought_part(state, address, part, &brought);
		if (brought)
			return 0;
	}
	end = address + part;
	if (!pages_find(fd, address & ~(PAGE - 1), (end + PAGE - 1) & ~(PAGE - 1), false, 1,
			&first))
		found = !first.nr		     ? part
			: first.v[0].start > address ? first.v[0].start - address
						     : 0;
	vec_fini(&first);
	return found < part ? found : part;
}
