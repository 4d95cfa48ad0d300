/*
 * Valgrind's XML: each of memcheck's kinds becomes the finding it is, with its stacks and names; text in any pieces gives the same; broken text is an error
 * and loses nothing that came before.
 */
#include "src/capture/valgrind.h"
#include "include/pmm/ledger.h"
#include "tests/unit/unit.h"

#define HEAD "<?xml version=\"1.0\"?><valgrindoutput><pid>77</pid><args><vargv><exe>/usr/bin/vg</exe><arg>-q</arg></vargv>" \
	     "<argv><exe>./prog</exe><arg>one</arg></argv></args><status><state>RUNNING</state></status>"
#define TAIL "<status><state>FINISHED</state></status></valgrindoutput>\n"
#define FRAME(ip, fn, line) "<frame><ip>0x" ip "</ip><obj>/bin/prog</obj><fn>" fn "</fn><dir>/src</dir><file>a.c</file><line>" line "</line></frame>"
#define ERROR(unique, kind, what, rest) \
	"<error><unique>0x" unique "</unique><tid>2</tid><kind>" kind "</kind><what>" what "</what>" rest "</error>"
#define HERE "<stack>" FRAME("1010", "store", "5") FRAME("1020", "main", "9") "</stack>"
#define THERE "<stack>" FRAME("1110", "grow", "15") FRAME("1020", "main", "9") "</stack>"

static struct valgrind *feed_all(const char *text, size_t piece)
{
	struct valgrind *v = valgrind_new();
	struct err e = { .text = "" };

	assert_non_null(v);
	for (size_t at = 0, all = strlen(text); at < all; at += piece)
		assert_int_equal(valgrind_feed(v, text + at, all - at < piece ? all - at : piece, 42, &e), 0);
	return v;
}

static struct heap_finding only(struct valgrind *v)
{
	assert_int_equal(valgrind_heap(v)->nr_findings, 1);
	return valgrind_heap(v)->findings[0];
}

static const struct valgrind_frame *frame_at(struct valgrind *v, uint32_t site, unsigned up, unsigned *nr)
{
	const struct heap *h = valgrind_heap(v);
	const struct valgrind_frame *f = NULL;
	uint32_t node = h->sites[site].node;

	while (up--)
		node = h->nodes[node].parent;
	*nr = valgrind_frames(v, node, &f);
	return f;
}

static void test_overrun(void **state)
{
	static const char text[] = HEAD ERROR("0", "InvalidWrite", "Invalid write of size 4",
		HERE "<auxwhat>Address 0x5030 is 8 bytes after a block of size 40 alloc'd</auxwhat>" THERE) TAIL;
	const size_t pieces[] = { 1, 7, sizeof(text) };

	(void)state;
	for (size_t i = 0; i < NR(pieces); i++) {
		struct valgrind *v = feed_all(text, pieces[i]);
		struct heap_finding f = only(v);
		const struct valgrind_frame *name;
		unsigned nr;

		assert_true(valgrind_ended(v));
		assert_string_equal(valgrind_heap(v)->cmdline, "./prog one");
		assert_int_equal(valgrind_heap(v)->pid, 77);
		assert_int_equal(f.type, PMM_FINDING_OVERRUN);
		assert_int_equal(f.by, PMM_BY_VALGRIND);
		assert_int_equal(f.access, PMM_ACCESS_WRITE);
		assert_int_equal(f.size_bytes, 4);
		assert_int_equal(f.address, 0x5030);
		assert_int_equal(f.block, 0x5000);
		assert_int_equal(f.block_bytes, 40);
		assert_int_equal(f.first_ns, 42);
		assert_int_equal(valgrind_heap(v)->threads[f.thread].tid, 2);
		assert_true(f.free_site == HEAP_NO_SITE);
		name = frame_at(v, f.site, 0, &nr);
		assert_int_equal(nr, 1);
		assert_string_equal(name->function, "store");
		assert_string_equal(name->file, "/src/a.c");
		assert_string_equal(name->object, "/bin/prog");
		assert_int_equal(name->line, 5);
		assert_string_equal(frame_at(v, f.alloc_site, 0, &nr)->function, "grow");
		assert_string_equal(frame_at(v, f.alloc_site, 1, &nr)->function, "main");
		valgrind_free(v);
	}
}

static void test_after_free(void **state)
{
	struct valgrind *v = feed_all(HEAD ERROR("0", "InvalidRead", "Invalid read of size 8",
		HERE "<auxwhat>Address 0x5010 is 16 bytes inside a block of size 40 free'd</auxwhat>" THERE
		"<auxwhat>Block was alloc'd at</auxwhat>" HERE) TAIL, 100);
	struct heap_finding f = only(v);

	(void)state;
	assert_int_equal(f.type, PMM_FINDING_AFTER_FREE);
	assert_int_equal(f.access, PMM_ACCESS_READ);
	assert_int_equal(f.block, 0x5000);
	assert_int_equal(f.alloc_site, f.site);		/* equal stacks are one site */
	assert_true(f.free_site != f.site && f.free_site != HEAP_NO_SITE);
	valgrind_free(v);
}

static void test_kinds(void **state)
{
	static const struct {
		const char *kind, *what, *note;
		int type, place;
	} cases[] = {
		{ "InvalidRead", "Invalid read of size 1", "Address 0x4ff8 is 8 bytes before a block of size 3 alloc'd",
		  PMM_FINDING_UNDERRUN, 0 },
		{ "InvalidRead", "Invalid read of size 1", "Address 0x7 is not stack'd, malloc'd or (recently) free'd", PMM_FINDING_WILD, 0 },
		{ "InvalidFree", "Invalid free() / delete / delete[] / realloc()",
		  "Address 0x5000 is 0 bytes inside a block of size 3 free'd", PMM_FINDING_DOUBLE_FREE, 0 },
		{ "InvalidFree", "Invalid free() / delete / delete[] / realloc()",
		  "Address 0x5002 is 2 bytes inside a block of size 3 alloc'd", PMM_FINDING_BAD_FREE, PMM_PLACE_INSIDE },
		{ "MismatchedFree", "Mismatched free() / delete / delete []",
		  "Address 0x5000 is 0 bytes inside a block of size 3 alloc'd", PMM_FINDING_MISMATCH, 0 },
		{ "Overlap", "Source and destination overlap in memcpy(0x1, 0x2, 3)", "", PMM_FINDING_OVERLAP, 0 },
		{ "FishyValue", "Argument 'size' of function malloc has a fishy (possibly negative) value: -1", "", PMM_FINDING_SIZE, 0 },
		{ "UninitValue", "Use of uninitialised value of size 8",
		  "Uninitialised value was created by a heap allocation", PMM_FINDING_UNINITIALISED, 0 },
		{ "SyscallParam", "Syscall param write(buf) points to unaddressable byte(s)", "", PMM_FINDING_OTHER, 0 },
		{ "SyscallParam", "Syscall param write(buf) points to uninitialised byte(s)", "", PMM_FINDING_UNINITIALISED, 0 },
		{ "Unheard", "Of", "", PMM_FINDING_OTHER, 0 },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct heap_finding f;
		struct valgrind *v;
		char text[4096];

		snprintf(text, sizeof(text), HEAD ERROR("0", "%s", "%s", HERE "<auxwhat>%s</auxwhat>" THERE) TAIL, cases[i].kind,
			 cases[i].what, cases[i].note);
		v = feed_all(text, 50);
		f = only(v);
		assert_int_equal(f.type, cases[i].type);
		assert_int_equal(f.place, cases[i].place);
		assert_string_equal(f.text, cases[i].what);
		valgrind_free(v);
	}
}

static void test_inlined(void **state)
{
	struct valgrind *v = feed_all(HEAD ERROR("0", "UninitValue", "x",
		"<stack>" FRAME("1010", "inner", "1") FRAME("1010", "outer", "2") FRAME("1020", "main", "3") "</stack>") TAIL, 64);
	const struct valgrind_frame *f;
	unsigned nr;

	(void)state;
	f = frame_at(v, only(v).site, 0, &nr);
	assert_int_equal(nr, 2);
	assert_string_equal(f[0].function, "inner");
	assert_string_equal(f[1].function, "outer");
	assert_string_equal(frame_at(v, only(v).site, 1, &nr)->function, "main");
	assert_int_equal(nr, 1);
	valgrind_free(v);
}

static void test_counts_and_leaks(void **state)
{
	struct valgrind *v = feed_all(HEAD ERROR("3", "UninitValue", "x", HERE) ERROR("4", "Leak_DefinitelyLost", "y", HERE)
		"<errorcounts><pair><count>19</count><unique>0x3</unique></pair><pair><count>5</count><unique>0x9</unique></pair></errorcounts>"
		TAIL, 33);

	(void)state;
	assert_int_equal(only(v).count, 19);
	valgrind_free(v);
}

static void test_broken(void **state)
{
	static const char *const ends[] = { "<error></valgrindoutput>", "\1", "</valgrindoutput><more/>" };
	static const char other[] = "<html><error></error></html>";
	struct err e = { .text = "" };
	struct valgrind *v;

	(void)state;
	for (size_t i = 0; i < NR(ends); i++) {
		v = feed_all(HEAD ERROR("0", "UninitValue", "x", HERE), 1000);
		assert_int_equal(valgrind_feed(v, ends[i], strlen(ends[i]), 1, &e), -EBADMSG);
		assert_non_null(strstr(e.text, "what Valgrind wrote cannot be read: "));
		assert_int_equal(only(v).type, PMM_FINDING_UNINITIALISED);
		assert_false(valgrind_ended(v));
		valgrind_free(v);
	}
	v = valgrind_new();
	assert_int_equal(valgrind_feed(v, other, strlen(other), 1, &e), -EBADMSG);
	valgrind_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overrun), cmocka_unit_test(test_after_free), cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_inlined), cmocka_unit_test(test_counts_and_leaks), cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
