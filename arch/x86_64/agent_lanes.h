/* SPDX-License-Identifier: MIT */
/*
 * x86-64, sixteen bytes at a time: SSE2, which every such processor has. For files that may use
 * registers other than the general ones (agent/meson.build).
 */
#ifndef ARCH_X86_64_AGENT_LANES_H
#define ARCH_X86_64_AGENT_LANES_H

#include <emmintrin.h>
#include <stdint.h>

#define ARCH_LANES	16u
#define ARCH_LANES_ALL	0xffffu

/* One bit for each byte at `at`, a multiple of ARCH_LANES: is its highest bit set? */
static inline uint32_t arch_lanes_high(const void *at)
{
	return (uint32_t)_mm_movemask_epi8(_mm_load_si128(at));
}

/* Are all of them this byte? */
static inline int arch_lanes_are(const void *at, uint8_t byte)
{
	return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_load_si128(at), _mm_set1_epi8((char)byte))) ==
	       (int)ARCH_LANES_ALL;
}

/* ... is it zero? *high: as arch_lanes_high(). */
static inline uint32_t arch_lanes_zero(const void *at, uint32_t *high)
{
	__m128i x = _mm_load_si128(at);

	*high = (uint32_t)_mm_movemask_epi8(x);
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_setzero_si128()));
}

/*
 * One bit for each byte at a, anywhere: does it differ from the one at b, or is it zero? *high: is
 * the highest bit of either set?
 */
static inline uint32_t arch_lanes_end(const void *a, const void *b, uint32_t *high)
{
	__m128i x = _mm_loadu_si128(a), y = _mm_loadu_si128(b),
		same = _mm_min_epu8(_mm_cmpeq_epi8(x, y), x);

	*high = (uint32_t)_mm_movemask_epi8(_mm_or_si128(x, y));
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(same, _mm_setzero_si128()));
}

#endif
