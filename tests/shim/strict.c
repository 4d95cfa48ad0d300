/* SPDX-License-Identifier: GPL-2.0-or-later */ /* Every macro of the header once, compiled only, under all warnings that compilers have: in C and in C++, with PMM and without it. */
#ifdef HEADER_LAST
#ifdef __cplusplus
#include <cstdlib>
#include <memory>
#endif
#include <stdlib.h>
#include <string.h>
#include <pmm.h>
#else
#include <pmm.h>
#include <stdlib.h>
#include <string.h>
#ifdef __cplusplus
#include <cstdlib>
#include <memory>
#endif
#endif

void *every_request(size_t size, const char *text);
size_t every_question(void *p);
void pool(void);

void *every_request(size_t size, const char *text)
{
	void *p = malloc(size), *other = PMM_NULL;

	p = realloc(p, size + 1);
	free(strdup(text));
	free(strndup(text, 3));
	free(aligned_alloc(64, 64));
	if (posix_memalign(&other, 64, size) == 0)
		free(other);
	free(reallocarray(calloc(2, size), 3, size));
	return p;
}

size_t every_question(void *p)
{
	pmm_enable();
	pmm_disable();
	pmm_set_output(PMM_NULL, p);
	pmm_set_react(PMM_NULL, p);
	pmm_flush();
	pmm_report(PMM_ALL);
	pmm_report_fd(2, PMM_BLOCKS | PMM_SITES);
	pmm_report_to(PMM_NULL, p, PMM_TOTALS);
	pmm_trace("%p %s\n", p, "text");
	pmm_assert(p != PMM_NULL);
	pmm_verify(p != PMM_NULL);
	p = pmm_unmark(pmm_mark(p));
	if (!pmm_readable(p, 1) || !pmm_writable(p, 1) || pmm_report_on(1, PMM_ALL) || pmm_each_block(PMM_NULL, p))
		return 1;
	return pmm_set(PMM_LIMIT, 5) + pmm_check() + pmm_check_block(p) + pmm_grab(1) + pmm_drop(1);
}

void pool(void)
{
	struct pmm_pool all;
	struct pmm_stats stats;
	struct pmm_heap heap;

	pmm_get_stats(&stats);
	if (pmm_get_heap(&heap))
		return;
	pmm_pool_init(&all, sizeof(stats), 10);
	pmm_pool_put(&all, pmm_pool_get(&all));
	pmm_pool_fini(&all);
}

#ifdef __cplusplus
struct released {
	void operator()(char *p) const { ::free(p); }
};

void standard();
void standard()
{
	void *p = std::malloc(10);
	std::unique_ptr<char, released> text(strdup("text"));
	std::unique_ptr<void, decltype(&std::free)> block(std::calloc(1, 2), &std::free);

	std::free(std::realloc(p, 20));
	::free(::malloc(1));
#if __cplusplus >= 201703L
	std::free(std::aligned_alloc(64, 64));
#endif
}
#endif
