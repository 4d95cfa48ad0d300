/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What perf events do not say of a process, read while it runs: names, arguments. */
#ifndef KERNEL_PERF_PERF_EXEC_H
#define KERNEL_PERF_PERF_EXEC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/trace_abi.h"

/* The name of a thread; "" = it has ended. */
void perf_exec_comm(pid_t pid, pid_t tid, char comm[TRACE_COMM_BYTES]);

/*
 * The texts of TRACE_EXEC: the path, and the arguments if the process still executes that file;
 * else TRACE_CUT is set in *flags. How many bytes of text[].
 */
size_t perf_exec_text(char text[TRACE_TEXT_MAX], pid_t pid, const char *path, uint32_t *flags);

/* The process's parent; 0: not known. */
pid_t perf_exec_parent(pid_t pid);

/* When a process began, by CLOCK_MONOTONIC; 0: not known. */
uint64_t perf_exec_start(pid_t pid);

#endif
