/* SPDX-License-Identifier: MIT */
/*
 * What functions of the printf family read: the strings that a format names. A string that fills
 * its block and lacks its end is a finding before the real function comes upon that.
 */
#ifndef AGENT_STRINGS_FORMAT_H
#define AGENT_STRINGS_FORMAT_H

#include <stdarg.h>

#include "agent/fault/bounce.h"
#include "agent/unwind/unwind.h"

/*
 * strings of guarded blocks without their end, of one call; what comes behind so many is not looked
 * at
 */
#define FORMAT_STANDS 4

/* What stands in for strings of guarded blocks meanwhile, and where in the caller's arguments. */
struct format {
	struct bounce itself;
	struct bounce stand[FORMAT_STANDS];
	const void **argument[FORMAT_STANDS];
	unsigned nr;
};

/*
 * Look at `format` and the strings that `function` is about to print: up to a conversion that the C
 * library may have, but this does not know, or one that names its argument by number. Returns the
 * format to use. Safe in signal handlers; errno is not touched.
 */
const char *format_begin(struct format *f, const char *format, va_list list, const char *function,
			 const struct caller *from);

/* It has printed. Who leaves in the midst by a jump leaves memory behind. */
void format_end(struct format *f);

/* The value of an int expression `call` that prints the variable `format` with `list`. */
#define FORMATTED(call, format, list, function, from) ({		\
	struct format format_;						\
	int length_;							\
									\
	format = format_begin(&format_, format, list, function, from);	\
	length_ = call;							\
	format_end(&format_);						\
	length_;							\
})

#endif
