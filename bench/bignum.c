/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that allocates like arithmetic with numbers of any size does: each result is a new
 * small block, most of which are released after a few operations, in recursion.
 *
 *     bench_bignum NUMBERS
 *
 * So many odd numbers of 96 bits are tried for being prime by Fermat's test: powers by recursive
 * squaring, remainders by recursive long division.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS	16
#define TRIED_DIGITS	6	/* of the numbers that are tried */

struct number {
	unsigned nr;			/* digits, the last one not 0 */
	uint16_t digit[];
};

static struct number *number_new(unsigned nr)
{
	struct number *n = calloc(1, sizeof(*n) + nr * sizeof(n->digit[0]));

	if (!n)
		abort();
	n->nr = nr;
	return n;
}

static struct number *trim(struct number *n)
{
	while (n->nr && !n->digit[n->nr - 1])
		n->nr--;
	return n;
}

static struct number *copy(const struct number *a, unsigned shift)
{
	struct number *n = number_new(a->nr + shift);

	memcpy(n->digit + shift, a->digit, a->nr * sizeof(a->digit[0]));
	return trim(n);
}

static int compare(const struct number *a, const struct number *b)
{
	if (a->nr != b->nr)
		return a->nr < b->nr ? -1 : 1;
	for (unsigned k = a->nr; k-- > 0;)
		if (a->digit[k] != b->digit[k])
			return a->digit[k] < b->digit[k] ? -1 : 1;
	return 0;
}

static struct number *multiply(const struct number *a, const struct number *b)
{
	struct number *n = number_new(a->nr + b->nr);

	for (unsigned i = 0; i < a->nr; i++) {
		uint32_t carry = 0;

		for (unsigned k = 0; k < b->nr; k++) {
			carry += n->digit[i + k] + (uint32_t)a->digit[i] * b->digit[k];
			n->digit[i + k] = (uint16_t)carry;
			carry >>= DIGIT_BITS;
		}
		n->digit[i + b->nr] = (uint16_t)carry;
	}
	return trim(n);
}

/* a - b * factor * 2^(16 * shift), which is not negative. */
static struct number *subtract(const struct number *a, const struct number *b, uint32_t factor,
			       unsigned shift)
{
	struct number *n = copy(a, 0);
	int64_t borrow = 0;

	for (unsigned k = shift; k < n->nr; k++) {
		int64_t product = k - shift < b->nr ? (int64_t)b->digit[k - shift] * factor : 0;

		borrow += n->digit[k] - product;
		n->digit[k] = (uint16_t)borrow;
		borrow >>= DIGIT_BITS;
	}
	return trim(n);
}

/* A factor that may be too small, never too large; at least 1 where a >= b * 2^(16 * shift). */
static uint32_t estimate(const struct number *a, const struct number *b, unsigned shift)
{
	unsigned top = b->nr + shift;
	uint64_t carried = a->nr > top ? (uint64_t)a->digit[top] << DIGIT_BITS : 0;
	uint64_t high = carried | a->digit[top - 1];
	uint64_t factor = high / (b->digit[b->nr - 1] + 1u);

	return factor ? (uint32_t)(factor < UINT16_MAX ? factor : UINT16_MAX) : 1;
}

/* Releases a. */
static struct number *remainder_of(struct number *a, const struct number *m)
{
	unsigned shift = a->nr > m->nr ? a->nr - m->nr : 0;
	struct number *less, *shifted;

	if (compare(a, m) < 0)
		return a;
	shifted = copy(m, shift);
	if (compare(a, shifted) < 0)
		shift--;
	free(shifted);
	less = subtract(a, m, estimate(a, m, shift), shift);
	free(a);
	return remainder_of(less, m);
}

/* base^(the exponent's bits from `bit` on) modulo m. */
static struct number *power(const struct number *base, const struct number *exponent, unsigned bit,
			    const struct number *m)
{
	struct number *root, *square, *result;

	if (bit == exponent->nr * DIGIT_BITS) {
		result = number_new(1);
		result->digit[0] = 1;
		return result;
	}
	root = power(base, exponent, bit + 1, m);
	square = remainder_of(multiply(root, root), m);
	free(root);
	if (!(exponent->digit[bit / DIGIT_BITS] >> bit % DIGIT_BITS & 1))
		return square;
	result = remainder_of(multiply(square, base), m);
	free(square);
	return result;
}

static int may_be_prime(const struct number *n)
{
	struct number *one = number_new(1), *base = number_new(1), *less, *result;
	int is_one;

	one->digit[0] = 1;
	base->digit[0] = 3;
	less = subtract(n, one, 1, 0);
	result = power(base, less, 0, n);
	is_one = !compare(result, one);
	free(one);
	free(base);
	free(less);
	free(result);
	return is_one;
}

int main(int argc, char **argv)
{
	unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, primes = 0;
	uint64_t state = 1;

	while (nr--) {
		struct number *n = number_new(TRIED_DIGITS);

		for (unsigned k = 0; k < TRIED_DIGITS; k++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			n->digit[k] = (uint16_t)(state >> 40) | 1;
		}
		primes += (unsigned long)may_be_prime(n);
		free(n);
	}
	printf("%lu of them may be prime\n", primes);
	return 0;
}
