/*
 * Canaried blocks: heads and tails (include/pmm/check.h) around blocks of the real allocator.
 */
#ifndef AGENT_CHECK_CANARY_H
#define AGENT_CHECK_CANARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes to ask the real allocator for; false: more than there can be. */
bool canary_bytes(size_t size, size_t align, size_t *bytes);

/* Make a block inside the real one, which is aligned to `align` if that is more than 16. */
void *canary_make(void *real, size_t size, size_t align);

/* What the head in front of an address says. */
enum canary_says { CANARY_NOTHING, CANARY_LIVE, CANARY_FREED };

/*
 * Is there the head of a canaried block in front of p? 16 bytes before p must be readable, as they are before whatever an allocator handed
 * out; canary_look_safely() asks the kernel (a system call) for pointers that may be anything.
 */
enum canary_says canary_look(const void *p, size_t *size, size_t *align);
enum canary_says canary_look_safely(const void *p, size_t *size, size_t *align);

/* The real block of a canaried one. */
static inline void *canary_real(const void *p, size_t align)
{
	return (char *)p - (align > 16 ? align : 16);
}

/* First byte of head, gap or tail that is not as it was; false: all is well. `size` and `align` are known from elsewhere than the head. */
bool canary_damage(const void *p, size_t size, size_t align, uint64_t *at);

/* Fill a block that is released with poison and mark its head; is all of it still poison? First byte that is not in *at. */
void canary_poison(void *p, size_t size, size_t align);
bool canary_poisoned(const void *p, size_t size, uint64_t *at);

#endif
