/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * new and delete of pmm.h's full form, with pmm_new.cc, in the kernel module's log: 5 allocations,
 * 2 frees; outstanding are 400 bytes by new with a place (line 22), 24 by an operator without, and
 * 64 aligned to 64. It ends with its input.
 */
#include <cstdio>
#include <pmm.h>

struct alignas(64) line { char bytes[64]; };
struct three { long a, b, c; };

static void *volatile kept[3];	/* so that the compiler leaves out none */

static three *plain() { return new three(); }

#define new PMM_NEW

int main()
{
	pmm_set(PMM_AT_EXIT, 0);
	kept[0] = new int[100];
	double *gone = new double(1);
	kept[1] = plain();
#undef new
	kept[2] = new line();
	void *freed = std::malloc(7);
	delete gone;
	std::free(freed);
	std::printf("status %d\n", pmm_kmod_status());
	std::fflush(stdout);
	return std::getchar() != EOF || !kept[0] || !kept[1] || !kept[2];
}
