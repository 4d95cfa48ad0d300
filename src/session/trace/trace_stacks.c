/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From records with copies of stacks to numbers of stacks. */
#include "src/session/trace/trace_stacks.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "src/analyze/trace/kernel_join.h"
#include "src/base/nanotime.h"
#include "src/kernel/event_class.h"
#include "src/kernel/fault_area.h"
#include "src/proc/descendants.h"

int trace_stacks_init(struct trace_stacks *s)
{
	struct symbolizer_options o = { .full = true, .use_cache = true };

	*s = (struct trace_stacks){ 0 };
	stack_table_init(&s->table, 0);
	s->walker = user_stacks_new(&s->images);
	s->names = stack_names_new(&s->images.modules, &o);
	return s->walker && s->names ? 0 : -ENOMEM;
}

#define READ_NS	200000000ull

/* Of those that end soon after their first event nothing could be read any more. */
static void read_all(struct trace_stacks *s)
{
	struct pid_list list = { 0 };
	uint64_t until = nanotime() + READ_NS;

	pid_list_all(&list);		/* what is missing is read when it is needed */
	for (size_t i = list.pids.nr; i && nanotime() < until; i--)
		images_process(&s->images, list.pids.v[i - 1], nanotime());
	vec_fini(&list.pids);
}

static void read_given(struct trace_stacks *s, const pid_t *pids, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		images_process(&s->images, pids[i], nanotime());	/* it says why not itself */
}

void trace_stacks_follow(struct trace_stacks *s, const pid_t *pids, size_t nr)
{
	if (!s->events)		/* they are of all processes: once is enough */
		s->images.told = !map_events_open(&s->events, &s->no_events);
	s->expected_only = nr;
	read_given(s, pids, nr);
	if (!nr)
		read_all(s);
}

void trace_stacks_told(struct trace_stacks *s, const pid_t *pids, size_t nr)
{
	s->images.told = true;
	read_given(s, pids, nr);
}

int trace_stacks_forked(struct trace_stacks *s)
{
	int rc = s->events ? map_events_forked(s->events) : 0;

	if (!rc)
		return 0;
	map_events_close(s->events);
	s->events = NULL;
	s->images.told = false;
	images_doubt(&s->images);
	return rc;
}

static int apply(struct trace_stacks *s, const struct map_event *e)
{
	if (!e->exec)
		return images_mapped(&s->images, e->tgid, &e->map, e->time_ns);
	return s->expected_only && !images_knows(&s->images, e->tgid)
		       ? 0
		       : images_begin(&s->images, e->tgid, e->time_ns);
}

int trace_stacks_mapped(void *arg, const struct map_event *e)
{
	return apply(arg, e);
}

int trace_stacks_until(struct trace_stacks *s, uint64_t time_ns)
{
	const struct map_event *e;
	int rc = 0;

	if (!s->events)
		return 0;
	if (time_ns >= s->drained_ns) {
		s->drained_ns = nanotime();
		rc = map_events_drain(s->events);
	}
	while (!rc && (e = map_events_next(s->events, time_ns)))
		rc = apply(s, e);
	if (s->lost != map_events_lost(s->events)) {
		s->lost = map_events_lost(s->events);
		images_doubt(&s->images);
	}
	return rc;
}

int trace_stacks_note(struct trace_stacks *s, const struct trace_record *r)
{
	int rc = trace_stacks_until(s, r->time_ns);

	if (rc)
		return rc;
	switch (r->kind) {
	case TRACE_EXEC:
		return images_exec(&s->images, r->tgid, r->time_ns);
	case TRACE_FORK:
		return r->a[0] == r->tgid ? 0 : images_fork(&s->images, r->tgid, r->a[0],
							    r->time_ns);
	case TRACE_EXIT:
		return r->a[2] ? images_exit(&s->images, r->tgid, r->time_ns) : 0;
	case TRACE_MMAP:
	case TRACE_MPROTECT:
		return r->a[2] & PROT_EXEC ? images_changed(&s->images, r->tgid, r->time_ns) : 0;
	default:
		return 0;
	}
}

/*
 * A fault of the kernel for a system call is after that call. Of what else happens inside the
 * kernel nobody knows whether a call or a fault led there. The program counter itself is right for
 * both, but for calls that never return: one less would be another row of the unwind information
 * where a fault has interrupted.
 */
static enum user_stack_at at_of(const struct trace_record *r)
{
	switch (r->kind) {
	case TRACE_FAULT:
	case TRACE_FAULT_MAJOR:
	case TRACE_SWAP_IN:
		return r->a[2] & TRACE_FAULT_USER ? USER_STACK_AT_FAULT : USER_STACK_AFTER_CALL;
	case TRACE_BRK:			/* a call whose result is no error number */
		return USER_STACK_AFTER_CALL;
	default:
		return trace_kinds[r->kind].call ? USER_STACK_AFTER_CALL : USER_STACK_AT_FAULT;
	}
}

int trace_stacks_hide(struct trace_stacks *s, pid_t pid, uint64_t pc)
{
	uint64_t now_ns = nanotime();
	struct image_at at;

	if (!pc)
		return 0;
	at = images_find(&s->images, images_process(&s->images, pid, now_ns), pc, now_ns);
	if (at.miss)
		return 0;
	return vec_push(&s->hidden,
			(struct trace_hidden){ pid, stack_frame(at.module, at.address) });
}

static void hide(const struct trace_stacks *s, pid_t pid, struct user_stack *stack)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < stack->nr; i++) {
		bool hidden = false;

		vec_each(&s->hidden, h)
			hidden |= h->pid == pid && h->frame == stack->frame[i];
		if (!hidden)
			stack->frame[kept++] = stack->frame[i];
	}
	stack->nr = kept;
}

uint32_t trace_stacks_add(struct trace_stacks *s, const struct trace_record *r, const void *tail)
{
	struct user_stack_copy copy = { .at = at_of(r) };
	struct user_stack *stack = &s->last;

	stack->nr = 0;
	if (!(r->flags & TRACE_STACK))
		return 0;
	memcpy(&copy.regs, tail, sizeof(copy.regs));
	copy.bytes = (const char *)tail + sizeof(copy.regs);
	copy.nr_bytes = r->tail_bytes;
	copy.missing = copy.regs.missing;
	copy.cut = r->flags & TRACE_CUT;
	copy.no_room = r->flags & TRACE_NO_ROOM;
	user_stack_walk(s->walker, r->tgid, r->time_ns, &copy, stack);
	if (s->hidden.nr)
		hide(s, (pid_t)r->tgid, stack);
	return stack_table_add(&s->table, stack->frame, stack->nr, stack->end);
}

bool trace_stacks_by_agent(const struct trace_stacks *s, uint32_t stack)
{
	unsigned nr, end;
	const uint64_t *frame = stack_table_find(&s->table, stack, &nr, &end);
	uint32_t module = nr ? stack_frame_module(frame[0]) : 0;

	return module && module != STACK_KERNEL &&
	       kernel_is_agent(modules_at(&s->images.modules, module)->path);
}

void trace_stacks_fini(struct trace_stacks *s)
{
	map_events_close(s->events);
	stack_names_free(s->names);
	user_stacks_free(s->walker);
	vec_fini(&s->hidden);
	stack_table_fini(&s->table);
	images_fini(&s->images);
}
