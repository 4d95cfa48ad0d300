/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples: page faults with their memory, counters; copies of stacks. */
#include <errno.h>
#include <string.h>

#include "arch/trace_arch.h"
#include "src/base/nanotime.h"
#include "src/kernel/event_class.h"
#include "src/kernel/perf/perf_taker_priv.h"
#include "src/proc/task.h"

#define FETCH_BYTES	16u		/* an instruction is shorter */
#define READ_SHARE	20u		/* reading /proc/PID/maps may take 1 of so many parts */

static bool take_word(const char **at, const char *end, uint64_t *value)
{
	if ((size_t)(end - *at) < sizeof(*value))
		return false;
	memcpy(value, *at, sizeof(*value));
	*at += sizeof(*value);
	return true;
}

/* False: not the registers of a 64-bit process. */
static bool take_registers(const char **at, const char *end, struct trace_regs *regs, bool *compat)
{
	uint64_t abi, value;

	*regs = (struct trace_regs){ 0 };
	if (!take_word(at, end, &abi) || !abi)
		return false;
	*compat = abi == PERF_SAMPLE_REGS_ABI_32;
	for (unsigned i = 0; i < ARCH_TRACE_PERF_NR; i++) {
		if (!take_word(at, end, &value))
			return false;
		if (arch_trace_perf[i] == ARCH_TRACE_PERF_IP)
			regs->ip = value;
		else if (arch_trace_perf[i] == ARCH_TRACE_PERF_SP)
			regs->sp = value;
		else
			regs->saved[arch_trace_perf[i]] = value;
	}
	return true;
}

/* Registers, room for the stack, the stack, how much of it there was. */
static void take_stack(struct perf_taker *t, const char *at, const char *end, struct perf_sample *s)
{
	uint64_t room, bytes;
	bool compat = false;

	if (!take_registers(&at, end, &t->tail.regs, &compat) || !take_word(&at, end, &room))
		return;
	if (compat)
		s->flags |= TRACE_COMPAT;
	if (compat || room > (uint64_t)(end - at) || (uint64_t)(end - at) - room < sizeof(bytes))
		return;
	memcpy(&bytes, at + room, sizeof(bytes));
	if (bytes > room || bytes > TRACE_STACK_MAX)
		return;
	memcpy(t->tail.bytes, at, bytes);
	s->bytes = bytes;
	s->flags |= TRACE_STACK | (bytes == room ? TRACE_CUT : 0u);
}

bool perf_sample_read(struct perf_taker *t, const struct perf_kind *kind,
			const struct perf_event_header *h, struct perf_sample *s)
{
	const char *at = (const char *)(h + 1), *end = (const char *)h + h->size;
	uint64_t id, thread;

	*s = (struct perf_sample){ 0 };
	if (!take_word(&at, end, &id) || !take_word(&at, end, &s->ip) ||
	    !take_word(&at, end, &thread) || !take_word(&at, end, &s->who.time_ns) ||
	    !take_word(&at, end, &s->address))
		return false;
	s->who.pid = (uint32_t)thread;
	s->who.tid = thread >> 32;
	if (kind->stack_bytes)
		take_stack(t, at, end, s);
	return true;
}

static void add_stack(struct trace_record *r, const struct perf_sample *s)
{
	r->flags |= s->flags;
	r->tail_bytes = s->bytes;
}

/* ---- page faults ---- */

/* Where nothing is known: mremap() and what was mapped by others leave no record. */
static const struct area_piece *read_again(struct perf_taker *t, struct perf_process *p,
					   uint64_t address)
{
	uint64_t begin = nanotime();
	struct areas *own;

	if (begin < p->areas->again_ns)
		return NULL;
	own = perf_process_areas(p, perf_note_file, t);
	if (!own || areas_read(own, task_proc(p->tgid), perf_note_file, t))
		return NULL;
	own->again_ns = begin + (nanotime() - begin) * READ_SHARE;
	return areas_find(own, address);
}

static enum fault_area find_area(struct perf_taker *t, struct perf_process *p, uint64_t address,
				 const struct area_piece **piece)
{
	*piece = NULL;
	if (!p || (!p->areas && !perf_process_areas(p, perf_note_file, t)))
		return FAULT_UNKNOWN;
	*piece = areas_find(p->areas, address);
	if (!*piece && areas_stack_grows(p->areas, address))
		return FAULT_STACK_GROWTH;
	if (!*piece)
		*piece = read_again(t, p, address);
	if (!*piece)
		return FAULT_UNKNOWN;
	if ((*piece)->area == FAULT_FILE_SHARED && perf_faults_is_tmpfs(&t->faults, *piece))
		return FAULT_SHMEM;
	return (*piece)->area;
}

static int take_fault(struct perf_taker *t, const struct perf_kind *kind,
		      const struct perf_sample *s)
{
	struct perf_process *p = perf_process_find(&t->tasks, (pid_t)s->who.pid);
	struct trace_record r = perf_record(t, kind->kind, &s->who);
	const struct area_piece *piece;
	enum fault_area area = find_area(t, p, s->address, &piece);
	bool fetch = s->address - s->ip < FETCH_BYTES;
	int rc;

	r.a[0] = s->address;
	r.a[1] = s->ip;
	r.a[2] = TRACE_FAULT_USER | (fetch ? TRACE_FAULT_FETCH : TRACE_FAULT_NO_ACCESS) |
		 (uint64_t)area << TRACE_FAULT_AREA_SHIFT;
	if (piece && piece->ino) {
		r.a[3] = piece->device;
		r.a[4] = piece->ino;
		r.a[5] = s->address - piece->start + piece->offset;
	}
	if (!perf_passes(t, &r))
		return 0;
	add_stack(&r, s);
	if (kind->kind == TRACE_FAULT_MAJOR) {
		r.kind = fault_area_is_swapped(area) ? TRACE_SWAP_IN : TRACE_FAULT_MAJOR;
		rc = perf_faults_count(&t->faults, &r, true);
		return rc ? rc : perf_count(t, &r, &t->tail);
	}
	if (kind->spare) {
		r.weight = 1 + t->share;
		t->unsaid -= (int64_t)r.weight;
		return perf_hand_over(t, &r, &t->tail);
	}
	rc = perf_faults_count(&t->faults, &r, false);
	t->counts[TRACE_FAULT].seen++;
	t->unsaid++;
	return rc || t->sampled ? rc : perf_hand_over(t, &r, &t->tail);
}

static int take_counter(struct perf_taker *t, const struct perf_kind *kind,
			const struct perf_sample *s)
{
	struct trace_record r = perf_record(t, kind->kind, &s->who);

	r.weight = kind->period;
	r.a[0] = s->ip;
	add_stack(&r, s);
	return perf_count(t, &r, &t->tail);
}

void perf_taker_share(struct perf_taker *t, uint64_t samples)
{
	t->share = samples && t->unsaid > 0 ? (uint64_t)t->unsaid / samples : 0;
}

int perf_sample_take(struct perf_taker *t, const struct perf_kind *kind,
		     const struct perf_sample *s)
{
	return trace_kinds[kind->kind].event == EVENT_PMC ? take_counter(t, kind, s)
							   : take_fault(t, kind, s);
}
