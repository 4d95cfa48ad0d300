/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes of a C library (.note.stapsdt), in all processes that have its file mapped. One
 * program for all of them: its cookie says which probe it is, and which kind of record it makes.
 */
#include "bpf/trace.h"

#include <bpf/usdt.bpf.h>

#define NR_PROBE_ARGS	3	/* no probe of malloc has more */

SEC("usdt")
int libc_probe(struct pt_regs *ctx)
{
	u64 cookie = bpf_usdt_cookie(ctx);
	u32 kind = (u32)cookie;
	struct trace_room *room;
	struct trace_task t;
	long value;

	if (kind >= TRACE_NR_KINDS || !trace_wanted(&t))
		return 0;
	trace_seen(kind);
	if (!trace_recorded(kind))
		return 0;
	room = trace_room(&t, kind);
	if (!room)
		return 0;
	for (int i = 0; i < NR_PROBE_ARGS; i++)
		if (!bpf_usdt_arg(ctx, i, &value))
			room->r.a[i] = value;
	room->r.a[5] = cookie >> 32;
	trace_send_stack(room, ctx);
	return 0;
}
