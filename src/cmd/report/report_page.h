/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `pmm report --format html`: all that is known of a heap as one page for a browser. */
#ifndef CMD_REPORT_REPORT_PAGE_H
#define CMD_REPORT_REPORT_PAGE_H

#include "src/cmd/report/report_command.h"

/* Was pmm built with what a page is made of? 0, or -ENOTSUP with `e`. */
int report_page_check(struct err *e);

/* Write it to where it goes. 0, or -errno with `e`. */
int report_page(const struct report_command *c, const struct heap *h, struct names *n,
		struct err *e);

#endif
