/* What the terminal can show: asked of the stream, the environment and the locale. */
#include "src/cmd/terminal.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/view/doc.h"

#define DEFAULT_WIDTH 110
#define MIN_WIDTH 80
#define MAX_WIDTH 240

struct style terminal_style(FILE *out)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	struct style style = { .width = DEFAULT_WIDTH };
	bool terminal = isatty(fileno(out));
	struct winsize size;

	setlocale(LC_CTYPE, "");
	style.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	style.colour = terminal && (!no_color || !*no_color) && term && strcmp(term, "dumb") != 0;
	if (terminal && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col)
		style.width = size.ws_col;
	if (style.width < MIN_WIDTH)
		style.width = MIN_WIDTH;
	if (style.width > MAX_WIDTH)
		style.width = MAX_WIDTH;
	return style;
}

void terminal_guard(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) != fd)
			break;
}
