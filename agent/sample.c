/* SPDX-License-Identifier: MIT */
/*
 * Poisson sampling by bytes, as in tcmalloc, jemalloc and Go: every byte allocated is equally
 * likely to be hit, with mean distance R (pmm_tree.sample_bytes). An allocation of S bytes is hit
 * with probability 1 - exp(-S/R), so a sample stands for w = 1 / (1 - exp(-S/R)) allocations; sums
 * of w and of w * S are unbiased. Integers only: the agent uses no floating-point registers.
 */
#include "agent/sample.h"

#include "agent/agent.h"
#include "agent/ctx.h"

#define Q30	(1ull << 30)

uint8_t sample_pages[AGENT_FILTER_SLOTS];

/* xorshift64*, Vigna 2016 */
static uint64_t random_next(struct tctx *c)
{
	uint64_t x = c->random ? c->random : 1;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	c->random = x;
	return x * 0x2545f4914f6cdd1dull;
}

/*
 * -log2(u / 2^64) for u > 0, 24 fractional bits: the integer part by counting zeros, the rest by
 * repeated squaring.
 */
static uint64_t minus_log2(uint64_t u)
{
	int zeros = __builtin_clzll(u);
	uint64_t m = u << zeros >> 33;		/* [2^30, 2^31): 1.x with 30 fractional bits */
	uint64_t fraction = 0;

	for (int bit = 23; bit >= 0; bit--) {
		m = m * m >> 30;
		if (m >= 2 * Q30) {
			m >>= 1;
			fraction |= 1ull << bit;
		}
	}
	return ((uint64_t)(zeros + 1) << 24) - fraction;
}

uint64_t sample_next(struct tctx *c)
{
	const uint64_t ln2_q32 = 2977044472ull;
	uint64_t u = random_next(c) | 1;
	/* -ln(u), 24 fractional bits, at most 45 */
	uint64_t e_q24 = minus_log2(u) * (ln2_q32 >> 8) >> 24;

	return (agent.tree->sample_bytes * (e_q24 >> 4) >> 20) + 1;
}

/* w with 16 fractional bits. */
static uint64_t weight_q16(uint64_t size)
{
	uint64_t r = agent.tree->sample_bytes, x, p, term;

	if (!size)
		size = 1;
	if (size >= 32 * r)
		return 1 << 16;
	if (size <= 2 * r) {		/* 1/x + 1/2 + x/12 - x^3/720 + x^5/30240, x = S/R */
		x = (size << 24) / r;
		p = x * x >> 24;
		return (r << 16) / size + 32768 + (x >> 8) / 12 - ((p * x >> 24) >> 8) / 720 +
		       ((p * p >> 24) * x >> 24 >> 8) / 30240;
	}
	/* e^-x: whole steps of e^-1, then a Taylor series for the rest */
	x = (size << 24) / r;
	for (p = Q30; x >= 1 << 24; x -= 1 << 24)
		p = p * 395007542ull >> 30;
	term = p;
	for (uint64_t k = 1, sign = 1; k < 12; k++, sign ^= 1) {
		term = (term * x >> 24) / k;
		p = sign ? p - term : p + term;
	}
	return (Q30 << 16) / (Q30 - p);
}

uint64_t sample_weight(uint64_t size, uint64_t address)
{
	uint64_t w = weight_q16(size);
	uint64_t dice = ((address ^ size << 40) * 0x9e3779b97f4a7c15ull >> 48) & 0xffff;

	return (w + dice) >> 16;
}

uint64_t sample_bytes(uint64_t size)
{
	uint64_t w = weight_q16(size);

	return size < 1ull << 40 ? size * w >> 16 : size;
}
