/*
 * The verdict in the form of Valgrind's memcheck --xml=yes, protocol 4 (docs/internals/xml-output-protocol4.txt there), for tools that
 * read it: each entry is an error of kind Leak_..., an indirectly lost one on its own and within the sum of its definite one, as there.
 *
 * Memcheck has the bytes of a definite record with the indirect ones in <leakedbytes>, but only the direct blocks in <leakedblocks>.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/suppress.h"
#include "src/view/leaks.h"
#include "src/view/plain.h"
#include "src/view/report_part.h"

static const char *const kind_name[REACH_NR_CLASSES] = {
	[REACH_REACHED] = "Leak_StillReachable",
	[REACH_POSSIBLE] = "Leak_PossiblyLost",
	[REACH_INDIRECT] = "Leak_IndirectlyLost",
	[REACH_DEFINITE] = "Leak_DefinitelyLost",
};

/* Text from outside: valid UTF-8 without control characters, markup quoted. */
static void put_text(FILE *out, const char *text)
{
	struct str clean = STR_INIT;

	plain_text(&clean, text);
	for (const char *p = str_text(&clean); *p; p++) {
		if (*p == '<')
			fputs("&lt;", out);
		else if (*p == '>')
			fputs("&gt;", out);
		else if (*p == '&')
			fputs("&amp;", out);
		else
			fputc(*p, out);
	}
	str_fini(&clean);
}

static void put_element(FILE *out, const char *indent, const char *name, const char *text)
{
	fprintf(out, "%s<%s>", indent, name);
	put_text(out, text);
	fprintf(out, "</%s>\n", name);
}

/* "00:01:02:03.456 ", days first. */
static void put_status(FILE *out, const char *state, uint64_t ns)
{
	uint64_t ms = ns / 1000000, s = ms / 1000;

	fprintf(out, "<status>\n  <state>%s</state>\n  <time>%02" PRIu64 ":%02u:%02u:%02u.%03u </time>\n</status>\n\n", state, s / 86400,
		(unsigned)(s / 3600 % 24), (unsigned)(s / 60 % 60), (unsigned)(s % 60), (unsigned)(ms % 1000));
}

static void put_head(FILE *out, const struct heap *h)
{
	fputs("<?xml version=\"1.0\"?>\n\n<valgrindoutput>\n\n<protocolversion>4</protocolversion>\n"
	      "<protocoltool>memcheck</protocoltool>\n\n<preamble>\n  <line>pmm, in the form of Valgrind's memcheck</line>\n", out);
	put_element(out, "  ", "line", *h->cmdline ? h->cmdline : h->comm);
	fprintf(out, "</preamble>\n\n<pid>%" PRIu32 "</pid>\n<ppid>%" PRIu32 "</ppid>\n<tool>memcheck</tool>\n\n", h->pid, h->ppid);
	fputs("<args>\n  <vargv>\n    <exe>pmm</exe>\n    <arg>leaks</arg>\n  </vargv>\n  <argv>\n", out);
	put_element(out, "    ", "exe", *h->exe ? h->exe : h->comm);
	fputs("  </argv>\n</args>\n\n", out);
	put_status(out, "RUNNING", 0);
	put_status(out, "FINISHED", report_time(h, h->search.at_ns));
}

static void put_frame(FILE *out, const struct frame_name *f)
{
	const char *slash = f->file ? strrchr(f->file, '/') : NULL;

	fprintf(out, "    <frame>\n      <ip>0x%" PRIX64 "</ip>\n", f->address);
	if (f->module && *f->module && f->address)	/* what stands for the allocator has none */
		put_element(out, "      ", "obj", f->module);
	if (f->function)
		put_element(out, "      ", "fn", f->function);
	if (slash) {
		char dir[4096];

		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - f->file), f->file);
		put_element(out, "      ", "dir", dir);
	}
	if (f->file)
		put_element(out, "      ", "file", slash ? slash + 1 : f->file);
	if (f->file && f->line)
		fprintf(out, "      <line>%" PRIu32 "</line>\n", f->line);
	fputs("    </frame>\n", out);
}

/* A stack has one frame at least. */
static void put_stack(FILE *out, const struct heap *h, struct names *n, uint32_t site, unsigned kind)
{
	const struct frame_name *allocator;
	unsigned any = suppress_allocator(kind, &allocator);

	fputs("  <stack>\n", out);
	for (unsigned i = 0; i < any; i++)
		put_frame(out, &allocator[i]);
	for (uint32_t at = h->sites[site].node; at; at = h->nodes[at].parent) {
		unsigned nr;
		const struct frame_name *f = names_find(n, at, &nr);

		for (unsigned i = 0; i < nr; i++) {
			if (f[i].role == FRAME_MARK)
				continue;
			put_frame(out, &f[i]);
			any++;
		}
	}
	if (!any)
		fputs("    <frame>\n      <ip>0x0</ip>\n    </frame>\n", out);
	fputs("  </stack>\n", out);
}

static void put_error(FILE *out, const struct heap *h, struct names *n, const struct leak_entry *e, unsigned kind, uint64_t number,
		      uint64_t nr)
{
	const char *are = e->class == REACH_REACHED ? "still reachable" : leaks_class_text(e->class);
	uint64_t bytes = e->bytes + e->indirect_bytes;
	struct str why = STR_INIT;

	leaks_why(&why, h, n, e);
	fprintf(out, "<error>\n  <unique>0x%" PRIx64 "</unique>\n  <tid>1</tid>\n  <kind>%s</kind>\n  <xwhat>\n    <text>%" PRIu64, number,
		kind_name[e->class], bytes);
	if (e->indirect_bytes)
		fprintf(out, " (%" PRIu64 " direct, %" PRIu64 " indirect)", e->bytes, e->indirect_bytes);
	fprintf(out, " bytes in %" PRIu64 " blocks are %s in loss record %" PRIu64 " of %" PRIu64 "</text>\n", e->blocks, are, number + 1,
		nr);
	fprintf(out, "    <leakedbytes>%" PRIu64 "</leakedbytes>\n    <leakedblocks>%" PRIu64 "</leakedblocks>\n  </xwhat>\n", bytes,
		e->blocks);
	put_stack(out, h, n, e->site, kind);
	put_element(out, "  ", "auxwhat", str_text(&why));
	fputs("</error>\n\n", out);
	str_fini(&why);
}

static void put_suppressed(FILE *out, const struct suppress *suppress)
{
	fputs("<errorcounts>\n</errorcounts>\n\n<suppcounts>\n", out);
	for (size_t i = 0; suppress && i < suppress_nr(suppress); i++) {
		struct suppress_use use = suppress_find_use(suppress, i);

		if (!use.sites)
			continue;
		fprintf(out, "  <pair>\n    <count>%" PRIu64 "</count>\n", use.sites);
		put_element(out, "    ", "name", use.name);
		fputs("  </pair>\n", out);
	}
	fputs("</suppcounts>\n\n</valgrindoutput>\n", out);
}

int leaks_print_xml(const struct heap *h, struct names *n, const struct leaks *l, const struct leaks_view_options *o,
		    const struct suppress *suppress, FILE *out)
{
	const struct leak_entry *const end = l->entries.v + l->entries.nr;
	uint8_t *kinds = suppress_kinds(h);
	uint64_t nr = 0, number = 0;

	for (const struct leak_entry *e = l->entries.v; e < end; e++)
		nr += e->verdict != LEAK_SUPPRESSED && leaks_view_shows(e, o->show);
	if (!kinds)
		return -ENOMEM;
	errno = 0;
	put_head(out, h);
	for (const struct leak_entry *e = l->entries.v; e < end; e++)
		if (e->verdict != LEAK_SUPPRESSED && leaks_view_shows(e, o->show) && (!o->top || number < o->top))
			put_error(out, h, n, e, kinds[e->site], number++, nr);
	put_suppressed(out, suppress);
	free(kinds);
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
