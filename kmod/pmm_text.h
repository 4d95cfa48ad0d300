/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How texts of the outside, times and states are shown. */
#ifndef KMOD_PMM_TEXT_H
#define KMOD_PMM_TEXT_H

#include "pmm_os.h"

/*
 * Writes `text` so that it cannot be taken for anything else: what is not printable ASCII, and a
 * backslash, becomes \xNN; a blank as well if `blanks` is false. Cut to `bytes`, at
 * least 1, with the 0 byte; `4 * strlen(text) + 1` are enough. Returns `to`.
 */
char *pmm_text_escape(char *to, size_t bytes, const char *text, bool blanks);

/* HH:MM:SS in UTC; `to` has 9 bytes. Returns `to`. */
char *pmm_text_time(char *to, u64 time_ns);

/* "MALLOC" */
const char *pmm_text_kind(u32 kind);
/* "running" */
const char *pmm_text_state(u32 state);

#endif
