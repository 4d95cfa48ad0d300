/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text from outside in XML, as content or between quotes of an attribute: always valid, always on
 * one line.
 */
#ifndef BASE_XML_H
#define BASE_XML_H

#include "src/base/str.h"

/*
 * Append text; markup and quotes become references, what is not harmless (src/base/utf8.h) \xNN:
 * XML has no way to write most controls.
 */
void xml_add(struct str *s, const char *text);

/* The same for each line of a text, which stay lines. */
void xml_add_lines(struct str *s, const char *text);

#endif
