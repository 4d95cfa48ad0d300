/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instructions that a function can come to, nearest first.
 */
#include "src/entries/flow.h"

#include <string.h>

#include "src/entries/insn.h"
#include "src/ptrace/stop.h"

struct follow {
	struct flow *f;
	bool called[FLOW_MOST];		/* by the function, not its own */
};

bool flow_has(const struct flow *f, uint64_t pc)
{
	for (unsigned i = 0; i < f->nr; i++)
		if (f->at[i] == pc)
			return true;
	return false;
}

static void add(struct follow *w, uint64_t at, bool called)
{
	if (w->f->nr == FLOW_MOST || flow_has(w->f, at))
		return;
	w->called[w->f->nr] = called;
	w->f->at[w->f->nr++] = at;
}

static bool goes_on(enum insn_flow flow)
{
	return flow != INSN_FLOW_JUMP && flow != INSN_FLOW_JUMP_INDIRECT &&
	       flow != INSN_FLOW_RETURN && flow != INSN_FLOW_TRAP;
}

/* The bytes may be the last ones of their mapping. */
static bool decode(pid_t pid, uint64_t at, uint8_t bytes[INSN_MAX_BYTES], struct insn *in)
{
	size_t nr = INSN_MAX_BYTES;

	if (stop_read(pid, at, bytes, nr)) {
		nr = 4096 - at % 4096;
		if (nr >= INSN_MAX_BYTES || stop_read(pid, at, bytes, nr))
			return false;
	}
	return insn_decode(bytes, nr, at, in);
}

void flow_follow(pid_t pid, uint64_t address, struct flow *f)
{
	struct follow w = { .f = f };

	f->nr = 0;
	add(&w, address, false);
	for (unsigned i = 0; i < f->nr; i++) {
		uint8_t bytes[INSN_MAX_BYTES];
		struct insn in;

		if (!decode(pid, f->at[i], bytes, &in))
			continue;
		if (goes_on(in.flow))
			add(&w, f->at[i] + in.length, w.called[i]);
		if (in.has_target && in.flow != INSN_FLOW_CALL)
			add(&w, in.target, w.called[i]);
		else if (in.has_target && !w.called[i])
			add(&w, in.target, true);
	}
}
