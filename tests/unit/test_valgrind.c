/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Valgrind's XML: each of memcheck's kinds becomes the finding it is, with its stacks and names;
 * text in any pieces gives the same; broken text is an error and loses nothing that came before.
 * Also of src/store/valgrind_error.c, valgrind_text.c.
 */
#include "src/store/valgrind.h"
#include "include/pmm/ledger.h"
#include "tests/unit/unit.h"

#define HEAD                                                                                       \
	"<?xml "                                                                                   \
	"version=\"1.0\"?><valgrindoutput><pid>77</pid><args><vargv><exe>/usr/bin/vg</"            \
	"exe><arg>-q</arg></vargv>"                                                                \
	"<argv><exe>./prog</exe><arg>one</arg></argv></args><status><state>RUNNING</state></"      \
	"status>"
#define TAIL "<status><state>FINISHED</state></status></valgrindoutput>\n"
#define FRAME(ip, fn, line)                                                                        \
	"<frame><ip>0x" ip "</ip><obj>/bin/prog</obj><fn>" fn                                      \
	"</fn><dir>/src</dir><file>a.c</file><line>" line "</line></frame>"
#define ERROR(unique, kind, what, rest)                                                            \
	"<error><unique>0x" unique "</unique><tid>2</tid><kind>" kind "</kind><what>" what         \
	"</what>" rest "</error>"
#define HERE "<stack>" FRAME("1010", "store", "5") FRAME("1020", "main", "9") "</stack>"
#define THERE "<stack>" FRAME("1110", "grow", "15") FRAME("1020", "main", "9") "</stack>"

static struct valgrind *feed_all(const char *text, size_t piece)
{
	struct valgrind *v = valgrind_new();
	struct err e = { .text = "" };

	assert_non_null(v);
	for (size_t at = 0, all = strlen(text); at < all; at += piece)
		assert_int_equal(
			valgrind_feed(v, text + at, all - at < piece ? all - at : piece, 42, &e),
			0);
	return v;
}

static struct heap_finding only(struct valgrind *v)
{
	assert_int_equal(valgrind_heap(v)->nr_findings, 1);
	return valgrind_heap(v)->findings[0];
}

static const struct valgrind_frame *frame_at(struct valgrind *v, uint32_t site, unsigned up,
					     unsigned *nr)
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
					      HERE "<auxwhat>Address 0x5030 is 8 bytes after a "
						   "block of size 40 alloc'd</auxwhat>" THERE) TAIL;
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
	struct valgrind *v = feed_all(
		HEAD ERROR("0", "InvalidRead", "Invalid read of size 8",
			   HERE "<auxwhat>Address 0x5010 is 16 bytes inside a block of size 40 "
				"free'd</auxwhat>" THERE
				"<auxwhat>Block was alloc'd at</auxwhat>" HERE) TAIL,
		100);
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
		{ "InvalidRead", "Invalid read of size 1",
		  "Address 0x4ff8 is 8 bytes before a block of size 3 alloc'd",
		  PMM_FINDING_UNDERRUN, 0 },
		{ "InvalidRead", "Invalid read of size 1",
		  "Address 0x7 is not stack'd, malloc'd or (recently) free'd", PMM_FINDING_WILD,
		  0 },
		{ "InvalidFree", "Invalid free() / delete / delete[] / realloc()",
		  "Address 0x5000 is 0 bytes inside a block of size 3 free'd",
		  PMM_FINDING_DOUBLE_FREE, 0 },
		{ "InvalidFree", "Invalid free() / delete / delete[] / realloc()",
		  "Address 0x5002 is 2 bytes inside a block of size 3 alloc'd",
		  PMM_FINDING_BAD_FREE, PMM_PLACE_INSIDE },
		{ "MismatchedFree", "Mismatched free() / delete / delete []",
		  "Address 0x5000 is 0 bytes inside a block of size 3 alloc'd",
		  PMM_FINDING_MISMATCH, 0 },
		{ "Overlap", "Source and destination overlap in memcpy(0x1, 0x2, 3)", "",
		  PMM_FINDING_OVERLAP, 0 },
		{ "FishyValue",
		  "Argument 'size' of function malloc has a fishy (possibly negative) value: -1",
		  "", PMM_FINDING_SIZE, 0 },
		{ "UninitValue", "Use of uninitialised value of size 8",
		  "Uninitialised value was created by a heap allocation", PMM_FINDING_UNINITIALISED,
		  0 },
		{ "SyscallParam", "Syscall param write(buf) points to unaddressable byte(s)", "",
		  PMM_FINDING_OTHER, 0 },
		{ "SyscallParam", "Syscall param write(buf) points to uninitialised byte(s)", "",
		  PMM_FINDING_UNINITIALISED, 0 },
		{ "Unheard", "Of", "", PMM_FINDING_OTHER, 0 },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct heap_finding f;
		struct valgrind *v;
		char text[4096];

		snprintf(text, sizeof(text),
			 HEAD ERROR("0", "%s", "%s", HERE "<auxwhat>%s</auxwhat>" THERE) TAIL,
			 cases[i].kind, cases[i].what, cases[i].note);
		v = feed_all(text, 50);
		f = only(v);
		assert_int_equal(f.type, cases[i].type);
		assert_int_equal(f.place, cases[i].place);
		assert_string_equal(f.text, cases[i].what);
		valgrind_free(v);
	}
}

#define PRELOADED(fn)                                                                              \
	"<frame><ip>0x900</ip><obj>/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so</"      \
	"obj><fn>" fn "</fn></frame>"
#define HERE_BY(fn) "<stack>" PRELOADED(fn) FRAME("1010", "store", "5") "</stack>"

/* Functions in the place of the program's are none of its stack, but say what was called. */
static void test_replaced(void **state)
{
	static const struct {
		const char *alloc, *called;
		int kind, release;
		const char *function;
	} cases[] = {
		{ "malloc", "free", PMM_KIND_MALLOC, PMM_RELEASE_FREE, "" },
		{ "calloc", "realloc", PMM_KIND_CALLOC, PMM_RELEASE_REALLOC, "" },
		{ "posix_memalign", "operator delete(void*)", PMM_KIND_POSIX_MEMALIGN,
		  PMM_RELEASE_DELETE, "" },
		{ "operator new(unsigned long)", "operator delete(void*, unsigned long)",
		  PMM_KIND_NEW, PMM_RELEASE_DELETE_SIZED, "" },
		{ "operator new[](unsigned long, std::nothrow_t const&amp;)",
		  "operator delete[](void*)", PMM_KIND_NEW_ARRAY, PMM_RELEASE_DELETE_ARRAY, "" },
		{ "operator new[](unsigned long, std::align_val_t)",
		  "operator delete[](void*, unsigned long, std::align_val_t)",
		  PMM_KIND_NEW_ARRAY_ALIGNED, PMM_RELEASE_DELETE_ARRAY_SIZED_ALIGNED, "" },
		{ "strange", "__strncpy_sse2_unaligned", 0, 0, "__strncpy_sse2_u" },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct valgrind *v;
		struct heap_finding f;
		char text[4096];
		unsigned nr;

		snprintf(text, sizeof(text),
			 HEAD ERROR("0", "InvalidFree", "x",
				    HERE_BY("%s") "<auxwhat>Address 0x5002 is 2 bytes inside a "
						  "block of size 3 alloc'd</auxwhat>" HERE_BY("%s"))
				 TAIL,
			 cases[i].called, cases[i].alloc);
		v = feed_all(text, 50);
		f = only(v);
		assert_int_equal(f.kind, cases[i].kind);
		assert_int_equal(f.release, cases[i].release);
		assert_string_equal(f.function, cases[i].function);
		assert_string_equal(frame_at(v, f.site, 0, &nr)->function, "store");
		assert_int_equal(f.site, f.alloc_site);
		valgrind_free(v);
	}
}

/* Of what is in no block Valgrind's words are kept, in one line; what is known of it besides is. */
static void test_elsewhere(void **state)
{
	static const struct {
		const char *kind, *what, *notes, *text;
		uint64_t address, size;
		int place;
	} cases[] = {
		{ "InvalidRead", "Invalid read of size 1",
		  "<auxwhat>Address 0x7 is not stack'd, malloc'd or (recently) free'd</auxwhat>",
		  "Invalid read of size 1: address 0x7 is not stack'd, malloc'd or (recently) "
		  "free'd",
		  7, 1, 0 },
		{ "InvalidFree", "Invalid free()",
		  "<auxwhat>Address 0x1f is on thread 1's stack</auxwhat><auxwhat>in frame #1, "
		  "created by fr (a.c:6)</auxwhat>",
		  "Invalid free(): address 0x1f is on thread 1's stack, in frame #1, created by fr "
		  "(a.c:6)",
		  0x1f, 0, PMM_PLACE_STACK },
		{ "InvalidFree", "Invalid free()",
		  "<auxwhat>Address 0x10 is 0 bytes inside data symbol \"st.0\"</auxwhat>",
		  "Invalid free(): address 0x10 is 0 bytes inside data symbol \"st.0\"", 0x10, 0,
		  PMM_PLACE_STATIC },
		{ "FishyValue",
		  "Argument 'size' of function malloc has a fishy (possibly negative) value: -2\n",
		  "",
		  "Argument 'size' of function malloc has a fishy (possibly negative) value: -2", 0,
		  -2ull, 0 },
		{ "UninitCondition", "Conditional",
		  "<auxwhat>Uninitialised value was created by a stack allocation</auxwhat>" THERE,
		  "Conditional", 0, 0, PMM_PLACE_STACK },
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		char text[4096];
		struct heap_finding f;
		struct valgrind *v;

		snprintf(text, sizeof(text), HEAD ERROR("0", "%s", "%s", HERE "%s") TAIL,
			 cases[i].kind, cases[i].what, cases[i].notes);
		v = feed_all(text, 50);
		f = only(v);
		assert_string_equal(f.text, cases[i].text);
		assert_int_equal(f.address, cases[i].address);
		assert_int_equal(f.size_bytes, cases[i].size);
		assert_int_equal(f.place, cases[i].place);
		assert_true((f.alloc_site != HEAP_NO_SITE) ==
			    (f.type == PMM_FINDING_UNINITIALISED));
		valgrind_free(v);
	}
}

static void test_process_and_threads(void **state)
{
	struct valgrind *v = feed_all("<?xml "
				      "version=\"1.0\"?><valgrindoutput><pid>77</pid><ppid>7</"
				      "ppid><args><argv><exe>/opt/a_long_name_of_one</exe>"
				      "</argv></args><error><unique>0x0</unique><tid>1</"
				      "tid><kind>UninitValue</kind><what>x</what>" HERE "</error>"
				      "<error><unique>0x1</unique><tid>3</tid><threadname>worker</"
				      "threadname><kind>UninitValue</kind><what>y</what>" HERE
				      "</error>" TAIL,
				      50);
	const struct heap *h = valgrind_heap(v);

	(void)state;
	assert_int_equal(h->ppid, 7);
	assert_string_equal(h->comm, "a_long_name_of_");
	assert_string_equal(h->threads[h->findings[0].thread].name, "");
	assert_int_equal(h->threads[h->findings[1].thread].tid, 3);
	assert_string_equal(h->threads[h->findings[1].thread].name, "worker");
	valgrind_free(v);
}

static void test_inlined(void **state)
{
	struct valgrind *v = feed_all(
		HEAD ERROR("0", "UninitValue", "x",
			   "<stack>" FRAME("1010", "inner", "1") FRAME("1010", "outer", "2")
				   FRAME("1020", "main", "3") "</stack>") TAIL,
		64);
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
	struct valgrind *v = feed_all(
		HEAD ERROR("3", "UninitValue", "x", HERE)
			ERROR("4", "Leak_DefinitelyLost", "y",
			      HERE) "<errorcounts><pair><count>19</count><unique>0x3</unique></"
				    "pair><pair><count>5</count><unique>0x9</unique></pair></"
				    "errorcounts>" TAIL,
		33);

	(void)state;
	assert_int_equal(only(v).count, 19);
	valgrind_free(v);
}

static void test_broken(void **state)
{
	static const char *const ends[] = { "<error></valgrindoutput>", "\1",
					    "</valgrindoutput><more/>" };
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
		cmocka_unit_test(test_overrun),	  cmocka_unit_test(test_after_free),
		cmocka_unit_test(test_kinds),	  cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_elsewhere), cmocka_unit_test(test_process_and_threads),
		cmocka_unit_test(test_inlined),	  cmocka_unit_test(test_counts_and_leaks),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
