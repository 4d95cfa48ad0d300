/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Asks for 140 blocks by malloc, 50 by new, 50 by new(nothrow), and says which it did not get; all are released. */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>

static void *volatile block;

int main()
{
	int failed = 0, first = -1, threw = 0, null = 0;
	void *blocks[140];

	errno = 0;
	for (int i = 0; i < 140; i++) {
		blocks[i] = malloc(10);
		if (!blocks[i] && !failed++)
			first = i;
	}
	int error = errno;
	for (int i = 0; i < 50; i++) {
		try {
			block = new char[10];
			delete[] static_cast<char *>(block);
		} catch (std::bad_alloc &) {
			threw++;
		}
	}
	for (int i = 0; i < 50; i++) {
		block = new (std::nothrow) char;
		null += !block;
		delete static_cast<char *>(block);
	}
	for (void *p : blocks)
		free(p);
	printf("malloc: %d of 140 failed, the first after %d, errno %d\n", failed, first, error);
	printf("new: %d of 50 threw\nnew(nothrow): %d of 50 null\n", threw, null);
}
