/*
 * The verdict on a searched heap, told: names, suppressions, text, JSON or Valgrind's XML. For `pmm leaks` and for the end of `pmm run --leaks`.
 */
#ifndef CMD_LEAKS_REPORT_H
#define CMD_LEAKS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "src/analyze/leaks.h"
#include "src/base/err.h"
#include "src/cmd/opt.h"

enum leaks_format { LEAKS_TEXT, LEAKS_JSON, LEAKS_VALGRIND_XML };

struct leaks_report_options {
	enum leaks_format format;
	const char *show;		/* "definite,possible,..."; NULL = definite, possible, likely */
	uint64_t top;			/* entries; 0 = all */
	uint64_t old_ns;		/* 0 = LEAKS_OLD_NS */
	const struct opt_list *suppressions;	/* files; NULL = none */
	bool no_default_suppressions;
	bool gen_suppressions;		/* one for each entry that is shown */
	bool no_symbols, debuginfod;
	const char *fail_on;		/* "definite,possible,likely,growth"; NULL = nothing */
	uint64_t max_leaked_bytes;	/* lost ones; UINT64_MAX = any amount */
};

/* What is meant when nobody says otherwise. */
extern const struct leaks_report_options leaks_report_default;

/*
 * Judge `l` (NULL = the rows of `h`) and write. 1 = found what fail_on or max_leaked_bytes ask for, 0 = not, -errno with `e`.
 */
int leaks_report(struct heap *h, struct leaks *l, const struct leaks_report_options *o, FILE *out, struct err *e);

#endif
