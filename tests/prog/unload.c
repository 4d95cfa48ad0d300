/* SPDX-License-Identifier: GPL-2.0-or-later
 * Loads, calls and unloads two libraries of the same layout in turn, 50 times each, most likely at
 * one address. Each block must be charged to the library that was there then, and both be named
 * although neither is loaded at the end.
 *
 * expect:
 *   site only_in_a  allocs=50 frees=0 bytes=2500 live=2500 blocks=50
 *   site only_in_b  allocs=50 frees=0 bytes=3500 live=3500 blocks=50
 */
#include "visit.h"

int main(int argc, char **argv)
{
	int bad = argc != 2;

	for (int i = 0; i < 50 && !bad; i++)
		bad = visit(argv[1], "libvictim_a.so", dlclose) || visit(argv[1], "libvictim_b.so", dlclose);
	return bad;
}
