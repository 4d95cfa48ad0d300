/* SPDX-License-Identifier: MIT */
/*
 * The injected form of the agent: its hooks.
 */
#ifndef AGENT_INJECT_AGENT_INJECT_H
#define AGENT_INJECT_AGENT_INJECT_H

#include "agent/hook.h"
#include "agent/inject/inject_pass.h"
#include "include/pmm/inject.h"

/* The hooks, by role; each with the entry as the argument after its function's last. */
void *inject_malloc(size_t size, const struct pmm_entry *e);
void *inject_calloc(size_t n, size_t each, const struct pmm_entry *e);
void *inject_realloc(void *old, size_t size, const struct pmm_entry *e);
void *inject_reallocarray(void *old, size_t n, size_t each, const struct pmm_entry *e);
void inject_free(void *p, size_t a, size_t b, const struct pmm_entry *e);
int inject_posix_memalign(void **out, size_t align, size_t size, const struct pmm_entry *e);
void *inject_memalign(size_t align, size_t size, const struct pmm_entry *e);

void *inject_new(size_t size, const struct pmm_entry *e);
void *inject_new_nothrow(size_t size, const void *tag, const struct pmm_entry *e);
void *inject_new_aligned(size_t size, size_t align, const struct pmm_entry *e);
void *inject_new_aligned_nothrow(size_t size, size_t align, const void *tag,
				 const struct pmm_entry *e);

int inject_munmap(void *at, size_t bytes, const struct pmm_entry *e);
void *inject_mremap(void *old, size_t old_bytes, size_t bytes, int flags, void *fixed,
		    const struct pmm_entry *e);

size_t inject_usable_size(void *p, const struct pmm_entry *e);
int inject_sigaction(int signal, const struct sig_action *new, struct sig_action *old,
		     const struct pmm_entry *e);

/* In assembly (arch/inject_arch.h), which has the entry in a register. */
void inject_mmap(void);
void inject_custom_alloc(void);
void inject_custom_realloc(void);
void inject_custom_free(void);
void inject_string(void);
void inject_expand(void);
void inject_xallocx(void);
void inject_prctl(void);
void inject_syscall(void);

#endif
