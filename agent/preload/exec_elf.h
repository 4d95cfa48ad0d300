/* SPDX-License-Identifier: MIT */
/*
 * An executable file, as far as it says whether the agent can be loaded into it.
 */
#ifndef AGENT_PRELOAD_EXEC_ELF_H
#define AGENT_PRELOAD_EXEC_ELF_H

#include <stdbool.h>
#include <stdint.h>

/* Does this form of the agent call no other malloc than the C library's? */
extern const bool exec_elf_bypasses __attribute__((visibility("hidden")));

/*
 * enum pmm_exec of the file open as `fd`, executed by this path; PMM_EXEC_TRACKED also of what is
 * no ELF file.
 */
uint32_t exec_elf(int fd, const char *path);

#endif
