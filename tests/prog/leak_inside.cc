/* SPDX-License-Identifier: GPL-2.0-or-later
 * Pointers that are not to the start of a block: into its middle, misaligned, behind its end, with tags; and those that a heuristic knows
 * to be as good as one to the start.
 *
 * expect:
 *   middle         possible=1/201
 *   last_byte      possible=1/202
 *   behind_middle  possible=2/406
 *   both           reachable=1/204
 *   misaligned     definite=1/205
 *   past_end       definite=1/208
 *   no_bytes       reachable=1/0
 *   low_tag        possible=1/206
 *   high_tag       definite=1/207 tagged:reachable=1/207
 *   length64       reachable=1/209 plain:possible=1/209
 *   new_array      reachable=1/68 plain:possible=1/68
 *   old_string     reachable=1/41 plain:possible=1/41
 *   second_base    reachable=1/40 plain:possible=1/40
 *   not_length64   possible=1/210
 */
#include <cstdint>

#include "leak.h"

struct element {
	int n[5];
	~element() { hide(n); }
};
struct first {
	virtual ~first() {}
	long a;
};
struct second {
	virtual ~second() {}
	long b;
};
struct derived : first, second {
	long c;
};

static char *volatile middles[8], *volatile starts[2];
static volatile uint64_t tagged;
static char packed[16] __attribute__((aligned(8)));
static element *volatile elements;
static second *volatile base;

SITE static void middle(void) { middles[0] = (char *)make(201) + 16; }
SITE static void last_byte(void) { middles[1] = (char *)make(202) + 201; }
SITE static void low_tag(void) { middles[2] = (char *)make(206) + 1; }
SITE static void no_bytes(void) { starts[0] = (char *)make(0); }
SITE static void past_end(void) { middles[4] = (char *)make(208) + 208; }
SITE static void high_tag(void) { tagged = (uint64_t)make(207) | 0x5aull << 56; }
SITE static void new_array(void) { elements = new element[3]; }
SITE static void second_base(void) { base = new derived; }

SITE static void behind_middle(void)
{
	void **outer = (void **)make(203);

	outer[2] = make(203);
	middles[3] = (char *)outer + 16;
}

SITE static void both(void)
{
	starts[1] = (char *)make(204);
	middles[5] = starts[1] + 8;
}

SITE static void misaligned(void)
{
	void *p = make(205);

	memcpy(packed + 4, &p, sizeof(p));
}

SITE static void length64(void)
{
	uint64_t *p = (uint64_t *)make(209);

	*p = 209 - 8;
	middles[6] = (char *)(p + 1);
}

SITE static void not_length64(void)
{
	uint64_t *p = (uint64_t *)make(210);

	*p = 209 - 8;
	middles[7] = (char *)(p + 1);
}

SITE static void old_string(void)
{
	static char *volatile text;
	uint64_t *p = (uint64_t *)make(24 + 16 + 1);

	p[0] = 3, p[1] = 16;
	text = (char *)(p + 3);
	memcpy(text, "abc", 3);
}

static void cases(void)
{
	middle(), last_byte(), behind_middle(), both(), misaligned(), past_end(), no_bytes(), low_tag(), high_tag();
	length64(), new_array(), old_string(), second_base(), not_length64();
}
