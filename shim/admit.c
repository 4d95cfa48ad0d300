/* SPDX-License-Identifier: MIT */
/*
 * May this request be met? Asked by both forms.
 */
/* What options say about a request beyond tracking it; 0: it must fail. Under the lock. */
static int admit(const struct at *at, size_t size)
{
	size_t huge = option(PMM_HUGE_SIZE), limit = option(PMM_LIMIT);

	if (option(PMM_CHECK_ALWAYS))
		inspect_all(at);
	if (huge && size >= huge) {
		monitor.stats.nr_huge++;
		say(at, "huge request: %zu bytes", size);
	}
	if (!limit || (size <= limit && bytes_live() <= limit - size))
		return 1;
	if (!monitor.refused) {
		monitor.refused = 1;
		say(at,
		    "request for %zu bytes fails: tracked blocks would exceed the limit of %zu",
		    size, limit);
	}
	return 0;
}
