/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes for a person on a process that is attached to: how it was found, and how it was left. */
#ifndef SESSION_ATTACH_ATTACH_NOTES_H
#define SESSION_ATTACH_ATTACH_NOTES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct attach_info;
struct attach_late;
struct outcome;
struct session_sink;

/* What was attached, and which functions were not patched. */
void attach_note_attached(const struct session_sink *to, pid_t pid, const char *comm,
			  const struct attach_info *info);

/* Its limit on address space was lowered to `limit_bytes` meanwhile. */
void attach_note_lowered(const struct session_sink *to, pid_t pid, uint64_t limit_bytes,
			 const struct attach_info *info);

/* What its limit on address space lacks now, if that could not be raised. */
void attach_note_space(const struct session_sink *to, pid_t pid, const struct attach_info *info);

/* Why calls of libraries that were loaded later are missing. */
void attach_note_late(const struct session_sink *to, const struct attach_late *late);

/* How it was left. `quiet`: only what is not as it was, and what was not seen. */
void attach_note_end(const struct session_sink *to, pid_t pid, const struct outcome *o, bool quiet);

#endif
