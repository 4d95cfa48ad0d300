/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * src/cmd/cmd_attach.c, attach_voice.c, src/session/attach/attach_session.c, attach_say.c,
 * attach_trace.c, attach_notes.c, attach_events.c, cmd_detach.c, cmd_snapshot.c, again.c,
 * leaks_live.c, leaks_search.c,
 * check_live.c, pid.c, terminal.c, src/track/track_attach.c, slot_pid.c, src/inject/injection.c,
 * eject.c, inside.c, image.c, memfile.c, patch.c, attached.c, leftover.c, maps_text.c, flow.c,
 * objects.c, objects_symbols.c, src/ptrace/apart.c, permit.c, withheld.c, segv_check.c,
 * src/roots/roots.c: running processes, which are as before afterwards. Also of
 * src/ptrace/process_copy.c, process_copy_read.c, copy.c, room.c, leash.c, remote.c, divert.c,
 * altstack.c, src/view/watch.c, src/analyze/expiry.c, growth.c, growing.c, trend.c,
 * src/entries/entries.c, entries_choose.c, entries_files.c, entries_names.c, entries_scan.c,
 * entries_branches.c, entries_candidates.c, entries_custom.c, detour.c, insn.c, gap.c. The session
 * is tests/unit/sessions/cmd_attach.t. Runs: pmm, libpmm_inject.so, libpmm.so.
 * Also of attach_signals.c, src/inject/reserve.c.
 */
#include "tests/unit/cmd_session.h"

int main(void)
{
	return session_run("cmd_attach");
}
