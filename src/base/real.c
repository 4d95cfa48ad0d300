/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * With p(x) = 1 - exp(-x), p(2x) = p(x) (2 - p(x)): a sum and a product of positive numbers, in
 * which little is lost. So x is halved until a few terms of the series are enough.
 */
#include "src/base/real.h"

#define SMALL 0.0625
#define LARGE 40	/* exp(-40) is less than half of the last bit of 1 */
#define TERMS 11	/* SMALL^11 / 12! is less than 1e-21 */

double real_any(double x)
{
	unsigned halved = 0;
	double p = 1;

	if (!(x < LARGE))
		return x >= LARGE ? 1 : x;
	for (; x > SMALL; x /= 2)
		halved++;
	/* x - x^2 / 2! + x^3 / 3! ..., from the inside */
	for (unsigned n = TERMS; n > 1; n--)
		p = 1 - x / n * p;
	p *= x;
	while (halved--)
		p *= 2 - p;
	return p;
}
