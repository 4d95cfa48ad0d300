/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms of a small heap with hostile names, to the letter: src/export/export_massif.c,
 * export_dhat.c, export_chrome.c, export_openmetrics.c, export_svg.c, export_heaptrack.c.
 */
#include <zlib.h>

#include "tests/unit/export_made.h"

static const char hostile[] =
	"process comm={a&b} cmdline=\"x #1\" taken=2s\n"
	"totals peak=80 peak-at=1s\n"
	"point 1s live=80 blocks=3 allocs=4 rss=8K\n"
	"site main>p{q} size=10 allocs=3 frees=1 life=1s\n"
	"site main>e;f'g#h size=20 allocs=2 temporary=1\n"
	"site - size=5\n";

static const char massif[] =
	"desc: pmm " PMM_VERSION "\n"
	"cmd: x \\x231\n"
	"time_unit: ms\n"
	"#-----------\n"
	"snapshot=0\n"
	"#-----------\n"
	"time=0\n"
	"mem_heap_B=0\n"
	"mem_heap_extra_B=0\n"
	"mem_stacks_B=0\n"
	"heap_tree=empty\n"
	"#-----------\n"
	"snapshot=1\n"
	"#-----------\n"
	"time=1000\n"
	"mem_heap_B=80\n"
	"mem_heap_extra_B=0\n"
	"mem_stacks_B=0\n"
	"heap_tree=peak\n"
	"n4: 80 (heap allocation functions)\n"
	" n1: 40 0x0: e;f'g\\x23h (e;f'g\\x23h.c:7)\n"
	"  n0: 40 0x0: main (main.c:7)\n"
	" n1: 20 0x0: p<q> (p<q>.c:7)\n"
	"  n0: 20 0x0: main (main.c:7)\n"
	" n0: 5 [stack unknown]\n"
	" n0: 15 [call site not known]\n"
	"#-----------\n"
	"snapshot=2\n"
	"#-----------\n"
	"time=2000\n"
	"mem_heap_B=65\n"
	"mem_heap_extra_B=0\n"
	"mem_stacks_B=0\n"
	"heap_tree=detailed\n"
	"n3: 65 (heap allocation functions)\n"
	" n1: 40 0x0: e;f'g\\x23h (e;f'g\\x23h.c:7)\n"
	"  n0: 40 0x0: main (main.c:7)\n"
	" n1: 20 0x0: p<q> (p<q>.c:7)\n"
	"  n0: 20 0x0: main (main.c:7)\n"
	" n0: 5 [stack unknown]\n";

static const char dhat[] =
	"{\n"
	"  \"dhatFileVersion\": 2,\n"
	"  \"mode\": \"heap\",\n"
	"  \"verb\": \"Allocated\",\n"
	"  \"bklt\": true,\n"
	"  \"bkacc\": false,\n"
	"  \"tu\": \"us\",\n"
	"  \"Mtu\": \"s\",\n"
	"  \"tuth\": 500,\n"
	"  \"cmd\": \"x #1\",\n"
	"  \"pid\": 4242,\n"
	"  \"te\": 2000000,\n"
	"  \"tg\": 1000000,\n"
	"  \"pps\": [\n"
	"    {\"tb\": 5, \"tbk\": 1, \"tl\": 160833, \"mb\": 5, \"mbk\": 1, \"gb\": 5"
	", \"gbk\": 1, \"eb\": 5, \"ebk\": 1, \"fs\": [4]},\n"
	"    {\"tb\": 30, \"tbk\": 3, \"tl\": 482500, \"mb\": 20, \"mbk\": 2, \"gb\":"
	" 20, \"gbk\": 2, \"eb\": 20, \"ebk\": 2, \"fs\": [1, 2]},\n"
	"    {\"tb\": 40, \"tbk\": 2, \"tl\": 321666, \"mb\": 40, \"mbk\": 2, \"gb\":"
	" 40, \"gbk\": 2, \"eb\": 40, \"ebk\": 2, \"fs\": [3, 2]}\n"
	"  ],\n"
	"  \"ftbl\": [\n"
	"    \"[root]\",\n"
	"    \"0x0: p<q> (p<q>.c:7)\",\n"
	"    \"0x0: main (main.c:7)\",\n"
	"    \"0x0: e;f'g#h (e;f'g#h.c:7)\",\n"
	"    \"0x0: [stack unknown]\"\n"
	"  ]\n"
	"}\n";

static const char chrome[] =
	"{\n"
	"  \"displayTimeUnit\": \"ms\",\n"
	"  \"otherData\": {\"version\": \"pmm " PMM_VERSION "\", \"command\": \"x #1\"},\n"
	"  \"traceEvents\": [\n"
	"    {\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0, \"pid\": 4242, \"t"
	"id\": 4242, \"args\": {\"name\": \"{a&b}\"}},\n"
	"    {\"name\": \"live bytes\", \"ph\": \"C\", \"ts\": 0, \"pid\": 4242, \"tid"
	"\": 4242, \"args\": {\"bytes\": 0}},\n"
	"    {\"name\": \"live blocks\", \"ph\": \"C\", \"ts\": 0, \"pid\": 4242, \"ti"
	"d\": 4242, \"args\": {\"blocks\": 0}},\n"
	"    {\"name\": \"live bytes\", \"ph\": \"C\", \"ts\": 1e+06, \"pid\": 4242, "
	"\"tid\": 4242, \"args\": {\"bytes\": 80}},\n"
	"    {\"name\": \"live blocks\", \"ph\": \"C\", \"ts\": 1e+06, \"pid\": 4242,"
	" \"tid\": 4242, \"args\": {\"blocks\": 3}},\n"
	"    {\"name\": \"allocations\", \"ph\": \"C\", \"ts\": 1e+06, \"pid\": 4242,"
	" \"tid\": 4242, \"args\": {\"calls\": 4}},\n"
	"    {\"name\": \"RSS\", \"ph\": \"C\", \"ts\": 1e+06, \"pid\": 4242, \"tid\": "
	"4242, \"args\": {\"bytes\": 8192}},\n"
	"    {\"name\": \"live bytes\", \"ph\": \"C\", \"ts\": 2e+06, \"pid\": 4242, "
	"\"tid\": 4242, \"args\": {\"bytes\": 65}},\n"
	"    {\"name\": \"live blocks\", \"ph\": \"C\", \"ts\": 2e+06, \"pid\": 4242,"
	" \"tid\": 4242, \"args\": {\"blocks\": 5}},\n"
	"    {\"name\": \"allocations\", \"ph\": \"C\", \"ts\": 2e+06, \"pid\": 4242,"
	" \"tid\": 4242, \"args\": {\"calls\": 6}},\n"
	"    {\"name\": \"peak\", \"ph\": \"i\", \"ts\": 1e+06, \"pid\": 4242, \"tid\":"
	" 4242, \"s\": \"p\", \"cat\": \"pmm\"},\n"
	"    {\"name\": \"end\", \"ph\": \"i\", \"ts\": 2e+06, \"pid\": 4242, \"tid\": "
	"4242, \"s\": \"p\", \"cat\": \"pmm\"}\n"
	"  ]\n"
	"}\n";

static const char openmetrics[] =
	"# HELP pmm_heap_live_bytes Bytes allocated and not freed.\n"
	"# TYPE pmm_heap_live_bytes gauge\n"
	"# UNIT pmm_heap_live_bytes bytes\n"
	"pmm_heap_live_bytes{command=\"{a&b}\"} 65\n"
	"# HELP pmm_heap_live_blocks Blocks allocated and not freed.\n"
	"# TYPE pmm_heap_live_blocks gauge\n"
	"pmm_heap_live_blocks{command=\"{a&b}\"} 5\n"
	"# HELP pmm_heap_peak_bytes The most live bytes at any moment.\n"
	"# TYPE pmm_heap_peak_bytes gauge\n"
	"# UNIT pmm_heap_peak_bytes bytes\n"
	"pmm_heap_peak_bytes{command=\"{a&b}\"} 80\n"
	"# HELP pmm_heap_allocated_bytes Bytes allocated since the start."
	"\n"
	"# TYPE pmm_heap_allocated_bytes gauge\n"
	"# UNIT pmm_heap_allocated_bytes bytes\n"
	"pmm_heap_allocated_bytes{command=\"{a&b}\"} 75\n"
	"# HELP pmm_heap_freed_bytes Bytes freed since the start.\n"
	"# TYPE pmm_heap_freed_bytes gauge\n"
	"# UNIT pmm_heap_freed_bytes bytes\n"
	"pmm_heap_freed_bytes{command=\"{a&b}\"} 10\n"
	"# HELP pmm_heap_allocations Allocations since the start.\n"
	"# TYPE pmm_heap_allocations gauge\n"
	"pmm_heap_allocations{command=\"{a&b}\"} 6\n"
	"# HELP pmm_heap_frees Frees since the start.\n"
	"# TYPE pmm_heap_frees gauge\n"
	"pmm_heap_frees{command=\"{a&b}\"} 1\n"
	"# HELP pmm_heap_temporary_allocations Allocations freed as the n"
	"ext event of their thread.\n"
	"# TYPE pmm_heap_temporary_allocations gauge\n"
	"pmm_heap_temporary_allocations{command=\"{a&b}\"} 1\n"
	"# HELP pmm_heap_failed_allocations Allocations that failed.\n"
	"# TYPE pmm_heap_failed_allocations gauge\n"
	"pmm_heap_failed_allocations{command=\"{a&b}\"} 0\n"
	"# HELP pmm_process_resident_bytes Resident memory of the process"
	" when it was last seen.\n"
	"# TYPE pmm_process_resident_bytes gauge\n"
	"# UNIT pmm_process_resident_bytes bytes\n"
	"pmm_process_resident_bytes{command=\"{a&b}\"} 8192\n"
	"# HELP pmm_line_live_bytes Live bytes by the source line that an"
	"swers for them.\n"
	"# TYPE pmm_line_live_bytes gauge\n"
	"# UNIT pmm_line_live_bytes bytes\n"
	"pmm_line_live_bytes{command=\"{a&b}\",function=\"e;f'g#h\",file=\"/sr"
	"c/e;f'g#h.c\",line=\"7\",module=\"e;f'g#h\"} 40\n"
	"pmm_line_live_bytes{command=\"{a&b}\",function=\"p<q>\",file=\"/src/p"
	"<q>.c\",line=\"7\",module=\"p{q}\"} 20\n"
	"pmm_line_live_bytes{command=\"{a&b}\",function=\"[stack unknown]\",f"
	"ile=\"\",line=\"0\",module=\"\",rank=\"3\"} 5\n"
	"# EOF\n";

static const char svg[] =
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"120"
	"0\" height=\"115\" viewBox=\"0 0 1200 115\" font-family=\"monospace\" f"
	"ont-size=\"11\">\n"
	"<title>x #1</title>\n"
	"<rect width=\"100%\" height=\"100%\" fill=\"#fffdf8\"/>\n"
	"<text x=\"4\" y=\"24\" font-size=\"14\">live bytes: {a&amp;b}, process"
	" 4242</text>\n"
	"<g><title>all: 65 bytes, 100%</title><rect x=\"0.00\" y=\"40\" width"
	"=\"1200.00\" height=\"16\" fill=\"rgb(216,119,92)\" rx=\"1\"/><text x=\"2"
	".00\" y=\"52\">all</text></g>\n"
	"<g><title>main (main.c:7): 60 bytes, 92.3%</title><rect x=\"0.00\""
	" y=\"57\" width=\"1107.69\" height=\"16\" fill=\"rgb(247,104,88)\" rx=\"1"
	"\"/><text x=\"2.00\" y=\"69\">main (main.c:7)</text></g>\n"
	"<g><title>e;f&apos;g#h (e;f&apos;g#h.c:7): 40 bytes, 61.5%</titl"
	"e><rect x=\"0.00\" y=\"74\" width=\"738.46\" height=\"16\" fill=\"rgb(241"
	",109,64)\" rx=\"1\"/><text x=\"2.00\" y=\"86\">e;f&apos;g#h (e;f&apos;g"
	"#h.c:7)</text></g>\n"
	"<g><title>p&lt;q&gt; (p&lt;q&gt;.c:7): 20 bytes, 30.8%</title><r"
	"ect x=\"738.46\" y=\"74\" width=\"369.23\" height=\"16\" fill=\"rgb(221,1"
	"89,52)\" rx=\"1\"/><text x=\"740.46\" y=\"86\">p&lt;q&gt; (p&lt;q&gt;.c"
	":7)</text></g>\n"
	"</svg>\n";

static const char heaptrack[] =
	"v 10400 3\n"
	"X x #1\n"
	"I 1000 0\n"
	"s 4 p{q}\n"
	"s 4 p<q>\n"
	"s b /src/p<q>.c\n"
	"i 1 1 2 3 7\n"
	"s 4 main\n"
	"s b /src/main.c\n"
	"i 2 4 4 5 7\n"
	"s 7 e;f'g#h\n"
	"s e /src/e;f'g#h.c\n"
	"i 3 6 6 7 7\n"
	"s f [stack unknown]\n"
	"i 4 8\n"
	"t 2 0\n"
	"t 1 1\n"
	"t 3 1\n"
	"t 4 0\n"
	"a 5 4\n"
	"a 6 4\n"
	"a a 2\n"
	"a b 2\n"
	"a a 2\n"
	"a b 2\n"
	"a 14 3\n"
	"a 15 3\n"
	"+ 2\n"
	"- 2\n"
	"c 3e8\n"
	"+ 0\n"
	"+ 4\n"
	"+ 4\n"
	"+ 6\n"
	"+ 6\n"
	"R 2\n"
	"c 7d0\n";

static void check(enum export_form form, enum rank_key key, const char *expected)
{
	struct made m = make(hostile, form, key, NULL);

	if (strcmp(m.bytes, expected))
		fail_msg("%s", m.bytes);
	free(m.bytes);
}

static void massif_to_the_letter(void **state)
{
	(void)state;
	check(EXPORT_MASSIF, RANK_LIVE, massif);
}

static void dhat_to_the_letter(void **state)
{
	(void)state;
	check(EXPORT_DHAT, RANK_LIVE, dhat);
}

static void chrome_to_the_letter(void **state)
{
	(void)state;
	check(EXPORT_CHROME, RANK_LIVE, chrome);
}

static void openmetrics_to_the_letter(void **state)
{
	(void)state;
	check(EXPORT_OPENMETRICS, RANK_LIVE, openmetrics);
}

static void svg_to_the_letter(void **state)
{
	(void)state;
	check(EXPORT_SVG, RANK_LIVE, svg);
}

static void heaptrack_to_the_letter(void **state)
{
	struct made m = make(hostile, EXPORT_HEAPTRACK, RANK_LIVE, NULL);
	char text[4000] = "";
	z_stream z = { .next_in = (unsigned char *)m.bytes, .avail_in = (unsigned)m.nr,
		       .next_out = (unsigned char *)text, .avail_out = sizeof(text) - 1 };

	(void)state;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	if (strcmp(text, heaptrack))
		fail_msg("%s", text);
	free(m.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(massif_to_the_letter),
		cmocka_unit_test(dhat_to_the_letter),
		cmocka_unit_test(chrome_to_the_letter),
		cmocka_unit_test(openmetrics_to_the_letter),
		cmocka_unit_test(svg_to_the_letter),
		cmocka_unit_test(heaptrack_to_the_letter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
