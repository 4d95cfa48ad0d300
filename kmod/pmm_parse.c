// SPDX-License-Identifier: GPL-2.0-or-later
/* What is written to /proc/pmm/cfg (pmm_parse.h), and what a configuration may say. */
#include "pmm_parse.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* All of text[0..bytes) is a decimal number that fits an int, without needless zeros. */
static bool number_of(const char *text, size_t bytes, u32 *out)
{
	u64 value = 0;
	size_t i;

	if (!bytes || bytes > 10 || (bytes > 1 && text[0] == '0'))
		return false;
	for (i = 0; i < bytes; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (u64)(text[i] - '0');
	}
	*out = (u32)value;
	return value <= INT_MAX;
}

static bool word_is(const char *text, size_t bytes, const char *word)
{
	return bytes == strlen(word) && !memcmp(text, word, bytes);
}

static int set_word(const char *word, size_t bytes, u32 value, struct pmm_kmod_config *config)
{
	if (word_is(word, bytes, "INTERVAL")) {
		config->set = PMM_KMOD_SET_INTERVAL;
		config->interval_ms = value;
	} else if (word_is(word, bytes, "SCAN")) {
		config->set = PMM_KMOD_SET_SCAN;
		config->scan = value;
	} else if (word_is(word, bytes, "START_PID")) {
		config->set = PMM_KMOD_SET_START;
		config->start_pid = (s32)value;
	} else if (word_is(word, bytes, "STOP_PID")) {
		config->set = PMM_KMOD_SET_STOP;
		config->stop_pid = (s32)value;
	} else {
		return -EINVAL;
	}
	return 0;
}

int pmm_parse_cfg(const char *text, size_t bytes, struct pmm_kmod_config *config)
{
	struct pmm_kmod_config made = {};
	size_t word = 0, at;
	u32 value;

	if (bytes && text[bytes - 1] == '\n')
		bytes--;
	while (word < bytes && !is_blank(text[word]))
		word++;
	at = word;
	while (at < bytes && is_blank(text[at]))
		at++;
	if (at == word || !number_of(text + at, bytes - at, &value) ||
	    set_word(text, word, value, &made) || pmm_config_check(&made))
		return -EINVAL;
	*config = made;
	return 0;
}

static bool is_within(u64 value, u64 least, u64 most)
{
	return value >= least && value <= most;
}

int pmm_config_check(const struct pmm_kmod_config *c)
{
	u32 set = c->set;

	if (set & ~PMM_KMOD_SET_ALL)
		return -EINVAL;
	if (set & PMM_KMOD_SET_INTERVAL &&
	    !is_within(c->interval_ms, INTERVAL_MIN_MS, INTERVAL_MAX_MS))
		return -EINVAL;
	if (set & PMM_KMOD_SET_SCAN && c->scan > 1)
		return -EINVAL;
	if ((set & PMM_KMOD_SET_START && c->start_pid <= 0) ||
	    (set & PMM_KMOD_SET_STOP && c->stop_pid <= 0) ||
	    (set & PMM_KMOD_SET_CLEAR && c->clear_pid <= 0))
		return -EINVAL;
	if (set & PMM_KMOD_SET_ENTRIES && (!is_within(c->entries_per_process, 1, ENTRIES_MAX) ||
					   !is_within(c->entries_in_all, 1, ENTRIES_MAX)))
		return -EINVAL;
	if (set & PMM_KMOD_SET_KEEP && c->keep_s > KEEP_MAX_S)
		return -EINVAL;
	return 0;
}
