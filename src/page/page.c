/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page around its parts: what a browser reads first and last. */
#include "src/page/page.h"

#include <errno.h>
#include <stdlib.h>

#include "src/analyze/sizes.h"
#include "src/base/json.h"
#include "src/page/page_priv.h"

/*
 * Nothing is loaded, from nowhere; only the code and the style that are in the page are used, known
 * by their sums. Names from outside that got into the markup could do nothing.
 */
static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"script-src '%s'; style-src '%s'; img-src data: blob:; base-uri 'none'; "
	"form-action 'none'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<meta name=\"referrer\" content=\"no-referrer\">\n"
	"<meta name=\"generator\" content=\"pmm " PMM_VERSION "\">\n<title>";

const char *page_missing(void)
{
	return page_assets.missing;
}

void page_text(FILE *f, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'' || c < ' ')
			fprintf(f, "&#%u;", c < ' ' ? ' ' : c);
		else
			putc(c, f);
	}
}

void page_begin(struct page *p, FILE *out, const char *title)
{
	*p = (struct page){ .out = out };
	fprintf(out, head, page_assets.code_hash, page_assets.style_hash);
	page_text(out, title);
	fputs(" - pmm</title>\n<style>", out);
	fputs(page_assets.style, out);
	fputs("</style>\n</head>\n<body>\n<noscript>This page shows its data by JavaScript, which "
	      "is off.</noscript>\n<div id=\"app\"><p id=\"loading\">Reading ...</p></div>\n",
	      out);
}

static void put_about(struct page *p, const struct page_stacks *k, const struct page_source *s)
{
	const struct heap *h = s->heap;
	FILE *f = page_part(p, "about");
	struct json j;

	if (!f)
		return;
	json_init(&j, f);
	json_object(&j, NULL);
	json_str(&j, "pmm", PMM_VERSION);
	json_str(&j, "source", s->name);
	json_str(&j, "comm", h->comm);
	json_u64(&j, "pid", h->pid);
	json_u64(&j, "tick_ns", h->tick_ns);
	json_u64(&j, "run_ns", heap_since(h, h->taken_ns));
	json_bool(&j, "running", h->end == HEAP_RUNNING);
	json_bool(&j, "sampled", h->mode == HEAP_SAMPLED);
	json_bool(&j, "searched", k->leaked_bytes);
	json_bool(&j, "live_only", s->selection->from_blocks);
	json_bool(&j, "history", heap_has_history(h));
	json_bool(&j, "allocated", heap_import_allocated(h));
	json_bool(&j, "foreign", h->import.tool);
	json_u64(&j, "blocks", s->selection->nr_blocks);
	json_array_flat(&j, "kinds");
	for (unsigned i = 0; i < HEAP_NR_KINDS; i++)
		json_str(&j, NULL, kind_name(i));
	json_end(&j);
	json_array_flat(&j, "metrics");
	for (uint32_t i = 0; i < k->profile->nr_metrics; i++) {
		json_str(&j, NULL, k->profile->metric[i].name);
		json_str(&j, NULL, k->profile->metric[i].unit);
	}
	if (k->leaked_bytes) {
		json_str(&j, NULL, "leaked");
		json_str(&j, NULL, "bytes");
		json_str(&j, NULL, "leaked");
		json_str(&j, NULL, "blocks");
	}
	json_end(&j);
	json_end(&j);
	if (json_finish(&j) && !p->rc)
		p->rc = -EIO;
	page_part_end(p, f);
}

void page_heap(struct page *p, const struct page_source *s)
{
	struct page_stacks k = { 0 };

	if (!p->rc)
		p->rc = page_stacks_init(&k, s);
	if (!p->rc) {
		put_about(p, &k, s);
		page_put_stacks(p, &k, s);
		page_put_sites(p, &k, s);
		page_put_blocks(p, s);
		if (s->lines)
			page_put_lines(p, &k);
	}
	page_stacks_fini(&k);
}

int page_end(struct page *p)
{
	if (!p->rc) {
		fputs("<script type=\"module\">", p->out);
		fputs(page_assets.code, p->out);
		fputs("</script>\n</body>\n</html>\n", p->out);
	}
	errno = 0;
	if (!p->rc && (fflush(p->out) || ferror(p->out)))
		p->rc = errno ? -errno : -EIO;
	return p->rc;
}
