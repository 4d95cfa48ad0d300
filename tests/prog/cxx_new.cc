/* SPDX-License-Identifier: GPL-2.0-or-later
 * Every form of operator new and delete.
 *
 * expect:
 *   site plain         allocs=2 frees=1 bytes=20 live=10 blocks=1
 *   site array         allocs=2 frees=1 bytes=40 live=20 blocks=1
 *   site quiet         allocs=2 frees=1 bytes=60 live=30 blocks=1
 *   site quiet_array   allocs=2 frees=1 bytes=80 live=40 blocks=1
 *   site aligned       allocs=2 frees=1 bytes=256 live=128 blocks=1
 *   site aligned_array allocs=2 frees=1 bytes=512 live=256 blocks=1
 *   site quiet_aligned allocs=2 frees=1 bytes=768 live=384 blocks=1
 *   site quiet_aligned_array allocs=2 frees=1 bytes=1024 live=512 blocks=1
 *   site sized         allocs=2 frees=2 bytes=60 live=0 blocks=0
 *   kinds new=2 new[]=2 new(aligned)=2 new[](aligned)=2
 */
#include <new>

#include "victim.h"

static const std::align_val_t wide = std::align_val_t(128);
static const std::nothrow_t &quietly = std::nothrow;

SITE static void plain() { operator delete((operator new(10), operator new(10))); }
SITE static void array() { operator delete[]((operator new[](20), operator new[](20))); }
SITE static void quiet()
{
	operator delete((operator new(30, quietly), operator new(30, quietly)), quietly);
}

SITE static void quiet_array()
{
	operator delete[]((operator new[](40, quietly), operator new[](40, quietly)), quietly);
}

SITE static void aligned()
{
	operator delete((operator new(128, wide), operator new(128, wide)), wide);
}

SITE static void aligned_array()
{
	operator delete[]((operator new[](256, wide), operator new[](256, wide)), wide);
}

SITE static void quiet_aligned()
{
	operator delete((operator new(384, wide, quietly), operator new(384, wide, quietly)),
			wide, quietly);
}

SITE static void quiet_aligned_array()
{
	operator delete[]((operator new[](512, wide, quietly), operator new[](512, wide, quietly)),
			  wide, quietly);
}

SITE static void sized()
{
	operator delete(operator new(30), 30ul);
	operator delete[](operator new[](30), 30ul);
}

int main()
{
	plain();
	array();
	quiet();
	quiet_array();
	aligned();
	aligned_array();
	quiet_aligned();
	quiet_aligned_array();
	sized();
	operator delete(operator new(256, wide), 256ul, wide);
	operator delete[](operator new[](256, wide), 256ul, wide);
}
