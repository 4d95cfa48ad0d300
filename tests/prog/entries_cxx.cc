// SPDX-License-Identifier: GPL-2.0-or-later // Prints where malloc, free and operators new and delete are, like entries_list: the library's (that call malloc) or, with POOL, its own.
#include <cstdio>
#include <cstdlib>
#include <new>

#ifdef POOL
#define OWN "+"
static char pool[65536];
static std::size_t used;

void *operator new(std::size_t bytes)
{
	if (bytes > sizeof(pool) - used)
		std::abort();
	used += (bytes + 15) & ~std::size_t(15);
	return pool + used - ((bytes + 15) & ~std::size_t(15));
}

void operator delete(void *block) noexcept
{
	*static_cast<volatile char *>(block) = 0;
}

void operator delete(void *block, std::size_t) noexcept
{
	*static_cast<volatile char *>(block) = 1;
}
#else
#define OWN "."
#endif

static void show(const char *sign, const char *name, void *at)
{
	std::printf("%s %s %p\n", sign, name, at);
}

int main()
{
	void *(*make)(std::size_t) = operator new;
	void (*drop)(void *) = operator delete;
	void (*drop_sized)(void *, std::size_t) = operator delete;

	show("+", "malloc", reinterpret_cast<void *>(std::malloc));
	show("+", "free", reinterpret_cast<void *>(std::free));
	show(OWN, "_Znwm", reinterpret_cast<void *>(make));
	show(OWN, "_ZdlPv", reinterpret_cast<void *>(drop));
	show(OWN, "_ZdlPvm", reinterpret_cast<void *>(drop_sized));
	std::printf("end\n");
	std::fflush(stdout);
	while (std::getchar() != EOF)
		;
	return 0;
}
