/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict in the form of Valgrind's memcheck --xml=yes, protocol 4
 * (docs/internals/xml-output-protocol4.txt there), for tools that read it: each entry is an error
 * of kind Leak_..., an indirectly lost one on its own and within the sum of its definite one, as
 * there.
 *
 * Memcheck has the bytes of a definite record with the indirect ones in <leakedbytes>, but only the
 * direct blocks in <leakedblocks>.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/analyze/suppress/suppress.h"
#include "src/base/xml.h"
#include "src/view/leaks_view.h"
#include "src/render/plain.h"
#include "src/view/report_priv.h"

static const char *const kind_name[REACH_NR_CLASSES] = {
	[REACH_REACHED] = "Leak_StillReachable",
	[REACH_POSSIBLE] = "Leak_PossiblyLost",
	[REACH_INDIRECT] = "Leak_IndirectlyLost",
	[REACH_DEFINITE] = "Leak_DefinitelyLost",
};

struct xml {
	FILE *out;
	bool failed;		/* no memory for a text: it is missing */
};

static void put_text(struct xml *x, const char *text)
{
	struct str clean = STR_INIT;

	xml_add(&clean, text);
	x->failed |= str_error(&clean) != 0;
	fputs(str_text(&clean), x->out);
	str_fini(&clean);
}

static void put_element(struct xml *x, const char *indent, const char *name, const char *text)
{
	fprintf(x->out, "%s<%s>", indent, name);
	put_text(x, text);
	fprintf(x->out, "</%s>\n", name);
}

/* "00:01:02:03.456 ", days first. */
static void put_status(struct xml *x, const char *state, uint64_t ns)
{
	uint64_t ms = ns / 1000000, s = ms / 1000;

	fprintf(x->out,
		"<status>\n  <state>%s</state>\n  <time>%02" PRIu64
		":%02u:%02u:%02u.%03u </time>\n</status>\n\n",
		state, s / 86400, (unsigned)(s / 3600 % 24), (unsigned)(s / 60 % 60),
		(unsigned)(s % 60), (unsigned)(ms % 1000));
}

static void put_head(struct xml *x, const struct heap *h)
{
	fputs("<?xml "
	      "version=\"1.0\"?>\n\n<valgrindoutput>\n\n<protocolversion>4</protocolversion>\n"
	      "<protocoltool>memcheck</protocoltool>\n\n<preamble>\n  <line>pmm, in the form of "
	      "Valgrind's memcheck</line>\n",
	      x->out);
	put_element(x, "  ", "line", *h->cmdline ? h->cmdline : h->comm);
	fprintf(x->out,
		"</preamble>\n\n<pid>%" PRIu32 "</pid>\n<ppid>%" PRIu32
		"</ppid>\n<tool>memcheck</tool>\n\n",
		h->pid, h->ppid);
	fputs("<args>\n  <vargv>\n    <exe>pmm</exe>\n    <arg>leaks</arg>\n  </vargv>\n  <argv>\n",
	      x->out);
	put_element(x, "    ", "exe", *h->exe ? h->exe : h->comm);
	fputs("  </argv>\n</args>\n\n", x->out);
	put_status(x, "RUNNING", 0);
	put_status(x, "FINISHED", heap_tick_time(h, h->search.at_ns));
}

static void put_frame(struct xml *x, const struct frame_name *f)
{
	const char *slash = f->file ? strrchr(f->file, '/') : NULL;

	fprintf(x->out, "    <frame>\n      <ip>0x%" PRIX64 "</ip>\n", f->address);
	if (f->module && *f->module && f->address)	/* what stands for the allocator has none */
		put_element(x, "      ", "obj", f->module);
	if (f->function)
		put_element(x, "      ", "fn", f->function);
	if (slash) {
		char dir[4096];

		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - f->file), f->file);
		put_element(x, "      ", "dir", dir);
	}
	if (f->file)
		put_element(x, "      ", "file", slash ? slash + 1 : f->file);
	if (f->file && f->line)
		fprintf(x->out, "      <line>%" PRIu32 "</line>\n", f->line);
	fputs("    </frame>\n", x->out);
}

/* A stack has one frame at least. */
static void put_stack(struct xml *x, const struct heap *h, struct names *n, uint32_t site,
		      unsigned kind)
{
	const struct frame_name *allocator;
	unsigned any = suppress_allocator(kind, &allocator);

	fputs("  <stack>\n", x->out);
	for (unsigned i = 0; i < any; i++)
		put_frame(x, &allocator[i]);
	for (uint32_t at = h->sites[site].node; at; at = h->nodes[at].parent) {
		unsigned nr;
		const struct frame_name *f = names_find(n, at, &nr);

		for (unsigned i = 0; i < nr; i++) {
			if (f[i].role == FRAME_MARK)
				continue;
			put_frame(x, &f[i]);
			any++;
		}
	}
	if (!any)
		fputs("    <frame>\n      <ip>0x0</ip>\n    </frame>\n", x->out);
	fputs("  </stack>\n", x->out);
}

static void put_error(struct xml *x, const struct heap *h, struct names *n,
		      const struct leak_entry *e, unsigned kind, uint64_t number, uint64_t nr)
{
	const char *are = e->class == REACH_REACHED ? "still reachable"
						    : leaks_class_text(e->class);
	uint64_t bytes = e->bytes + e->indirect_bytes;
	struct str why = STR_INIT;

	leaks_why(&why, h, n, e);
	x->failed |= str_error(&why) != 0;
	fprintf(x->out,
		"<error>\n  <unique>0x%" PRIx64
		"</unique>\n  <tid>1</tid>\n  <kind>%s</kind>\n  <xwhat>\n    <text>%" PRIu64,
		number, kind_name[e->class], bytes);
	if (e->indirect_bytes)
		fprintf(x->out, " (%" PRIu64 " direct, %" PRIu64 " indirect)", e->bytes,
			e->indirect_bytes);
	fprintf(x->out,
		" bytes in %" PRIu64 " blocks are %s in loss record %" PRIu64 " of %" PRIu64
		"</text>\n",
		e->blocks, are, number + 1, nr);
	fprintf(x->out,
		"    <leakedbytes>%" PRIu64 "</leakedbytes>\n    <leakedblocks>%" PRIu64
		"</leakedblocks>\n  </xwhat>\n",
		bytes, e->blocks);
	put_stack(x, h, n, e->site, kind);
	put_element(x, "  ", "auxwhat", str_text(&why));
	fputs("</error>\n\n", x->out);
	str_fini(&why);
}

static void put_suppressed(struct xml *x, const struct suppress *suppress)
{
	fputs("<errorcounts>\n</errorcounts>\n\n<suppcounts>\n", x->out);
	for (size_t i = 0; suppress && i < suppress_nr(suppress); i++) {
		struct suppress_use use = suppress_find_use(suppress, i);

		if (!use.sites)
			continue;
		fprintf(x->out, "  <pair>\n    <count>%" PRIu64 "</count>\n", use.sites);
		put_element(x, "    ", "name", use.name);
		fputs("  </pair>\n", x->out);
	}
	fputs("</suppcounts>\n\n</valgrindoutput>\n", x->out);
}

int leaks_print_xml(const struct heap *h, struct names *n, const struct leaks *l,
		    const struct leaks_view_options *o, const struct suppress *suppress, FILE *out)
{
	const struct leak_entry *const end = l->entries.v + l->entries.nr;
	struct xml x = { .out = out };
	uint8_t *kinds = suppress_kinds(h);
	uint64_t nr = 0, number = 0;

	for (const struct leak_entry *e = l->entries.v; e < end; e++)
		nr += e->verdict != LEAK_SUPPRESSED && leaks_view_shows(e, o->show);
	if (!kinds)
		return -ENOMEM;
	errno = 0;
	put_head(&x, h);
	for (const struct leak_entry *e = l->entries.v; e < end; e++)
		if (e->verdict != LEAK_SUPPRESSED && leaks_view_shows(e, o->show) &&
		    (!o->top || number < o->top))
			put_error(&x, h, n, e, kinds[e->site], number++, nr);
	put_suppressed(&x, suppress);
	free(kinds);
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return x.failed ? -ENOMEM : 0;
}
