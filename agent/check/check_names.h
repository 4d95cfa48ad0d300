/* SPDX-License-Identifier: MIT */
/*
 * Other names for the functions that gcc calls by itself: their own are those of hooks here. Comes
 * before all else in each file of libpmm_check.so (agent/meson.build).
 */
#ifndef AGENT_CHECK_CHECK_NAMES_H
#define AGENT_CHECK_CHECK_NAMES_H

#include <stddef.h>

#define AGENTS_OWN __attribute__((visibility("hidden")))

AGENTS_OWN void *memcpy(void *restrict to, const void *restrict from,
			size_t bytes) __asm__("agent_memcpy");
AGENTS_OWN void *memmove(void *to, const void *from, size_t bytes) __asm__("agent_memmove");
AGENTS_OWN void *memset(void *to, int byte, size_t bytes) __asm__("agent_memset");
AGENTS_OWN int memcmp(const void *a, const void *b, size_t bytes) __asm__("agent_memcmp");
AGENTS_OWN size_t strlen(const char *s) __asm__("agent_strlen");

#undef AGENTS_OWN
#endif
