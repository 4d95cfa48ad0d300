/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arithmetic on doubles without the C library's libm, which takes 0.1 ms to load at each start of
 * pmm. (sqrt() is an instruction, as -fno-math-errno has it.)
 */
#ifndef BASE_REAL_H
#define BASE_REAL_H

/* The lesser and the greater of two; of a number and a NaN, the number. */
static inline double real_least(double a, double b)
{
	return a < b || b != b ? a : b;
}

static inline double real_most(double a, double b)
{
	return a > b || b != b ? a : b;
}

/*
 * 1 - exp(-x) for x >= 0, to some 1e-15 of it also where it is small: how probable it is that
 * something occurs at all which occurs x times in the mean.
 */
double real_any(double x);

#endif
