/* SPDX-License-Identifier: GPL-2.0-or-later
 * Each string function on a string that fills its block of 24 bytes, or, when `wrong', lacks its end or is too long for it.
 */
#include <strings.h>

#include "check_string.h"

int main(int argc, char **argv)
{
	char small[64], *p, *q;

	begin(argc, argv);
	CALL(strlen(text()));
	CALL(strnlen(text(), SIZE + more));
	strcpy(block(), elsewhere());
	strcpy(small, text());
	stpcpy(block(), elsewhere());
	strncpy(block(), elsewhere(), SIZE + more);
	strncpy(block(), "x", SIZE + more);
	stpncpy(block(), elsewhere(), SIZE + more);
	p = block(), p[4] = 0;
	strcat(p, elsewhere() + 4);
	p = block(), p[4] = 0;
	strncat(p, elsewhere(), SIZE - 5 + more);
	p = text(), q = elsewhere(), memset(q, 'x', SIZE - !more), q[SIZE] = 'x';
	CALL(strcmp(p, q));
	p = text(), CALL(strncmp(p, q, SIZE + more));
	p = text(), CALL(strcasecmp(p, q));
	p = text(), CALL(strncasecmp(p, q, SIZE + more));
	CALL(strcmp(block(), "differs"));
	CALL(strncmp(block(), q, SIZE));
	CALL(strchr(text(), 'z'));
	CALL(strchr(block(), 'x'));
	CALL(strchrnul(text(), 'z'));
	CALL(strrchr(text(), 'x'));
	CALL(strstr(text(), "xy"));
	CALL(strstr(block(), "xx"));
	CALL(strspn(text(), "x"));
	CALL(strcspn(text(), "z"));
	CALL(strpbrk(text(), "z"));
	free(strdup(text()));
	free(strndup(text(), SIZE + more));
	p = text(), p[10] = 0;
	strcpy(p + 12 - 2 * more, p);
	return 0;
}
