/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C++ and Rust names, demangled by libiberty.
 *
 * Names come from outside and substitutions in them can make the readable form exponentially long,
 * so the demangler writes through a callback, and is left (longjmp) as soon as the buffer is full.
 * It works on its own stack only, so nothing is lost by that.
 */
#include "src/symbol/symbol.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#define MANGLED_MAX	16384	/* the demangler takes 80 bytes of stack for each character */

struct sink {
	char *buf;
	size_t len, size;
	jmp_buf full;
};

static void append_text(const char *text, size_t n, void *opaque)
{
	struct sink *sink = opaque;
	size_t room = sink->size - 1 - sink->len;
	bool full = n > room;

	if (full)
		n = room;
	memcpy(sink->buf + sink->len, text, n);
	sink->len += n;
	sink->buf[sink->len] = '\0';
	if (full)
		longjmp(sink->full, 1);
}

static size_t run(const char *name,
		  int (*demangle)(const char *, int, demangle_callbackref, void *), int options,
		  char *buf, size_t size)
{
	struct sink sink = { .buf = buf, .size = size };

	buf[0] = '\0';
	if (setjmp(sink.full))
		return size - 1;
	if (!demangle(name, options, append_text, &sink))
		return 0;
	return strlen(buf);
}

size_t symbol_demangle(const char *name, char *buf, size_t size)
{
	size_t len = 0;

	if (!size)
		return 0;
	buf[0] = '\0';
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    strnlen(name, MANGLED_MAX) == MANGLED_MAX)
		return 0;
	len = run(name, rust_demangle_callback, DMGL_PARAMS | DMGL_ANSI, buf, size);
	if (!len && name[1] == 'Z')
		len = run(name, cplus_demangle_v3_callback, DMGL_PARAMS | DMGL_ANSI, buf, size);
	if (!len)
		buf[0] = '\0';
	return len;
}
