/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `pmm check --on-error=core`: where the core file of the program is. */
#ifndef SESSION_CHECK_CHECK_CORE_H
#define SESSION_CHECK_CHECK_CORE_H

#include <sys/types.h>

struct session_sink;

/* Say that, or why there is none, of a process that has ended; `status` as wait() has it. */
void check_core_note(const struct session_sink *to, pid_t pid, int status);

#endif
