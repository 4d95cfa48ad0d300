/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the terminal can show: asked of the stream, the environment and the locale. */
#include "src/cmd/terminal.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/base/io.h"
#include "src/document/doc.h"

#define DEFAULT_WIDTH 110	/* of a terminal that does not say */
#define MIN_WIDTH 40
#define ANY_WIDTH 100000	/* as long as needed: files and pipes */

uint64_t terminal_columns;

/* COLUMNS, which a shell sets and a person may; 0: not set, or no number. */
static unsigned columns_of_environment(void)
{
	const char *text = getenv("COLUMNS");
	uint64_t n = 0;

	return text && !fmt_parse_uint(text, &n, NULL) && n <= ANY_WIDTH ? (unsigned)n : 0;
}

static unsigned width_of(FILE *out, bool terminal)
{
	struct winsize size;
	unsigned width = terminal_columns ? (unsigned)terminal_columns : columns_of_environment();

	if (!width && !terminal)
		return ANY_WIDTH;
	if (!width && !ioctl(fileno(out), TIOCGWINSZ, &size))
		width = size.ws_col;
	if (!width)
		return DEFAULT_WIDTH;
	return width < MIN_WIDTH ? MIN_WIDTH : width;
}

struct style terminal_style(FILE *out)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	bool terminal = isatty(fileno(out));
	struct style style = { .width = width_of(out, terminal) };

	setlocale(LC_CTYPE, "");
	style.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	style.colour = terminal && (!no_color || !*no_color) && term && strcmp(term, "dumb") != 0;
	return style;
}

void terminal_open_std(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && io_open_null(O_CLOEXEC) != fd)
			break;
}

bool terminal_reader_gone(int fd)
{
	struct pollfd p = { .fd = fd };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP);
}
