/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number of a process or thread as text, which /proc's folders are named by. */
#include "src/proc/proc.h"

pid_t proc_parse_pid(const char *text)
{
	pid_t pid = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(pid, 10, &pid) ||
		    __builtin_add_overflow(pid, *text - '0', &pid))
			return 0;
	return *text ? 0 : pid;
}
