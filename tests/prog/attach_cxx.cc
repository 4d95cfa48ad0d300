/* SPDX-License-Identifier: GPL-2.0-or-later
 * Operators new and delete in a program to attach to; with OWN, they are its own and take from a pool, not from malloc; with PLUGIN, a
 * library.
 *   g  a round -> "done"
 *   e  end with status 43
 *
 * expect:
 *   site plain    allocs=20 frees=5 bytes=2000 live=1500 blocks=15
 *   site array    allocs=20 frees=5 bytes=4000 live=3000 blocks=15
 *   site quiet    allocs=10 frees=0 bytes=500 live=500 blocks=10
 *   site aligned  allocs=4 frees=1 bytes=1024 live=768 blocks=3
 *   site fails    live=0 failed=3
 *   kinds new=25 new[]=15 new(aligned)=3
 */
#include <new>

#include "attach.h"

#ifdef OWN
static char pool[1 << 20] __attribute__((aligned(4096)));
static size_t used;

static void *take(size_t bytes, size_t align = 16)
{
	used = (used + align - 1) & -align;
	if (bytes > sizeof(pool) - used)
		return nullptr;
	used += bytes;
	return pool + used - bytes;
}

static void *must(void *p)
{
	if (!p)
		throw std::bad_alloc();
	return p;
}

void *operator new(size_t n) { return must(take(n)); }
void *operator new[](size_t n) { return must(take(n)); }
__attribute__((noipa)) void *operator new(size_t n, const std::nothrow_t &) noexcept { return take(n); }
void *operator new(size_t n, std::align_val_t a) { return must(take(n, static_cast<size_t>(a))); }
void operator delete(void *p) noexcept { if (p) memset(p, 0xdd, 1); }
void operator delete[](void *p) noexcept { if (p) memset(p, 0xdd, 1); }
void operator delete(void *p, size_t) noexcept { if (p) memset(p, 0xdd, 1); }
void operator delete[](void *p, size_t) noexcept { if (p) memset(p, 0xdd, 1); }
void operator delete(void *p, std::align_val_t) noexcept { if (p) memset(p, 0xdd, 1); }
void operator delete(void *p, size_t, std::align_val_t) noexcept { if (p) memset(p, 0xdd, 1); }
#endif

static int wrong;

static void *checked(void *p, size_t bytes, size_t align)
{
	wrong |= !p || reinterpret_cast<size_t>(p) % align;
	return fill(hide(p), bytes);
}

SITE static void *plain() { return checked(operator new(100), 100, 16); }
SITE static void *array() { return checked(operator new[](200), 200, 16); }
SITE static void *quiet() { return checked(operator new(50, std::nothrow), 50, 16); }
SITE static void *aligned() { return checked(operator new(256, std::align_val_t(256)), 256, 256); }

SITE static int fails()
{
	try {
		hide(operator new(opaque(1ul << 46)));
	} catch (const std::bad_alloc &) {
		return 1;
	}
	return 0;
}

static void go()
{
	void *p[20], *q[20], *r[4];

	for (int i = 0; i < 20; i++)
		p[i] = plain(), q[i] = array();
	for (int i = 0; i < 10; i++)
		wrong |= !filled(quiet(), 50);
	for (auto &b : r)
		b = aligned();
	for (int i = 0; i < 3; i++)
		wrong |= !fails();
	for (int i = 0; i < 20; i++)
		wrong |= !filled(p[i], 100) || !filled(q[i], 200);
	for (int i = 0; i < 5; i++) {
		operator delete(p[i], 100ul);
		operator delete[](q[i]);
	}
	operator delete(r[0], 256ul, std::align_val_t(256));
}

/* What attach_host calls when this is a library. */
extern "C" int enter(void)
{
	go();
	return !wrong;
}

#ifndef PLUGIN
int main()
{
	char c;

	delete[] static_cast<char *>(hide(new char[10]));
	say("ready\n");
	while ((c = order()) && c != 'e')
		say(enter() ? "done\n" : "WRONG\n");
	return wrong ? 98 : 43;
}
#endif
