/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the pieces of a page share. */
#ifndef PAGE_PAGE_PRIV_H
#define PAGE_PAGE_PRIV_H

#include "src/analyze/heap_profile.h"
#include "src/base/hash.h"
#include "src/page/page.h"

/* Generated from web/ by the build (web/assemble.py), or empty with `missing`. */
struct page_assets {
	const char *missing;
	const char *style, *style_hash; /* "sha256-..." of Content-Security-Policy */
	const char *code, *code_hash;
};
extern const struct page_assets page_assets;

/*
 * A part of the page, open for writing: what is written is compressed (raw DEFLATE), encoded
 * (base64) and put into an element of its own. NULL, and `p` has failed: no memory.
 */
FILE *page_part(struct page *p, const char *name);
void page_part_end(struct page *p, FILE *f);

/* A number as a varint: 7 bits a byte, the lowest first; all but the last have the highest bit. */
void page_number(FILE *f, uint64_t n);
/* ... that may be negative: -1 is 1, 1 is 2 ("zigzag"). */
void page_signed(FILE *f, int64_t n);

/* Text in HTML: with entities for what has a meaning there. Not for terminals. */
void page_text(FILE *f, const char *text);

/* The heap's stacks, numbered as the page has them. */
struct page_stacks {
	struct profile *profile;
	struct intern strings; /* 0 = "" */
	uint32_t *node;	       /* by site: its node in the profile; UINT32_MAX = not in it */
	uint32_t *answer;      /* by site: number of the frame that answers for it, 0 = none */
	uint64_t *leaked_bytes, *leaked_blocks; /* by site; NULL = not searched */
};

/* 0 or -errno; page_stacks_fini() in any case. */
int page_stacks_init(struct page_stacks *k, const struct page_source *s);
void page_stacks_fini(struct page_stacks *k);

/* The part "profile" and, after it, "strings"; `leaked` by node, or NULL. */
void page_put_profile(struct page *p, struct page_stacks *k, const uint64_t *leaked[2]);

/* Their parts of the page: "profile" and, after it, "strings"; "sites". */
void page_put_stacks(struct page *p, struct page_stacks *k, const struct page_source *s);
void page_put_sites(struct page *p, const struct page_stacks *k, const struct page_source *s);
/* "source": lines of source files, where they can be read now. */
void page_put_lines(struct page *p, struct page_stacks *k);
/* "blocks": the largest live ones, so many of them. */
void page_put_blocks(struct page *p, const struct page_source *s);

#endif
