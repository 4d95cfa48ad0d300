/* SPDX-License-Identifier: GPL-2.0-or-later */ /* new and delete, global and with a place; a constructor that throws; what the library allocates itself is tracked too: cxx.table. */
#include "order.h"
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
#ifdef __clang__
#pragma clang diagnostic ignored "-Wkeyword-macro"	/* of -Wpedantic */
#endif
#define new PMM_NEW

static int *early = new int(7);

struct thrower {
	long room[8];
	thrower() { throw std::runtime_error("no"); }
};

int main()
{
	BEGIN();
	struct pmm_stats before, after;
	pmm_get_stats(&before);
	{
		std::vector<std::string> names(100, std::string(50, 'x'));
		std::unique_ptr<int[]> numbers(new int[50]);
		void *plain = std::malloc(10);
		std::free(plain);
		try {
			delete new thrower;
		} catch (const std::runtime_error &) {
		}
		pmm_get_stats(&after);
		std::printf("%d blocks\n", after.nr_live - before.nr_live >= 102);
	}
	pmm_get_stats(&after);
	std::printf("%d more, %d foreign, %d errors\n", (int)(after.nr_live - before.nr_live), (int)after.nr_foreign, (int)after.nr_errors);
	double *left = new double[4];
	pmm_report(PMM_BLOCKS);
	delete[] left;
	delete early;
	pmm_set(PMM_AT_EXIT, 0);
	return 0;
}
