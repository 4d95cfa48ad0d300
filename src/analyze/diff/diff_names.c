/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names as they compare between builds. */
#include "src/analyze/diff/diff_names.h"

#include <ctype.h>
#include <string.h>

#include "src/base/str.h"

#define RUST_HASH_BYTES	19	/* "::h" and 16 digits */

static size_t digits(const char *text)
{
	size_t n = 0;

	while (isdigit((unsigned char)text[n]))
		n++;
	return n;
}

/* How long a copy's suffix is that begins here, ".constprop.0"; 0 = there is none. */
static size_t clone_suffix(const char *at)
{
	static const char *const word[] = { ".constprop", ".isra", ".part", ".cold", ".lto_priv",
					    ".llvm", ".localalias" };

	for (size_t i = 0; i < sizeof(word) / sizeof(*word); i++) {
		size_t bytes = strlen(word[i]);

		if (strncmp(at, word[i], bytes) != 0)
			continue;
		if (at[bytes] == '.' && digits(at + bytes + 1))
			bytes += 1 + digits(at + bytes + 1);
		return at[bytes] == '\0' || at[bytes] == '.' ? bytes : 0;
	}
	return 0;
}

static size_t without_clones(const char *name, size_t bytes)
{
	for (const char *at = strchr(name, '.'); at; at = strchr(at + 1, '.')) {
		const char *end = at;

		while (clone_suffix(end))
			end += clone_suffix(end);
		if (end > at && !*end)
			return (size_t)(at - name);
	}
	return bytes;
}

static size_t without_rust_hash(const char *name, size_t bytes)
{
	const char *hash = name + bytes - RUST_HASH_BYTES;

	if (bytes <= RUST_HASH_BYTES || strncmp(hash, "::h", 3) != 0)
		return bytes;
	for (size_t i = 3; i < RUST_HASH_BYTES; i++)
		if (!isxdigit((unsigned char)hash[i]))
			return bytes;
	return bytes - RUST_HASH_BYTES;
}

size_t diff_function_bytes(const char *name)
{
	const char *clone = strstr(name, " [clone .");

	if (clone)
		return (size_t)(clone - name);
	return without_rust_hash(name, without_clones(name, strlen(name)));
}

const char *diff_module_part(const char *path, size_t *bytes)
{
	static const char deleted[] = " (deleted)";
	const char *name = str_basename(path), *so;
	size_t n = strlen(name);

	if (str_ends(name, deleted))
		n -= sizeof(deleted) - 1;
	so = strstr(name, ".so");
	if (so && so > name && (so[3] == '.' && digits(so + 4)))
		n = (size_t)(so - name) + 3;
	*bytes = n;
	return name;
}
