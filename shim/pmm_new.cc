/* SPDX-License-Identifier: MIT */
/* C++'s global operators new and delete for pmm.h: compiled into the program once, beside the form that implements pmm_new(). */
#ifndef PMM
#define PMM
#endif
#ifndef PMM_NO_NAMES
#define PMM_NO_NAMES
#endif
#include <pmm.h>

static void *new_or_null(std::size_t size, std::size_t align)
{
	for (;;) {
		if (void *p = pmm_new("new", 0, "operator new", size, align))
			return p;
		std::new_handler handler = std::get_new_handler();
		if (!handler)
			return nullptr;
		handler();
	}
}

static void *new_or_throw(std::size_t size, std::size_t align)
{
	if (void *p = new_or_null(size, align))
		return p;
	PMM_NO_MEMORY();
}

static void delete_block(void *p) noexcept { pmm_free("delete", 0, "operator delete", p); }

void *operator new(std::size_t size) { return new_or_throw(size, 0); }
void *operator new[](std::size_t size) { return new_or_throw(size, 0); }
void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return new_or_null(size, 0); }
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept { return new_or_null(size, 0); }
void operator delete(void *p) noexcept { delete_block(p); }
void operator delete[](void *p) noexcept { delete_block(p); }
void operator delete(void *p, const std::nothrow_t &) noexcept { delete_block(p); }
void operator delete[](void *p, const std::nothrow_t &) noexcept { delete_block(p); }
#if __cpp_sized_deallocation || __cplusplus >= 201402L
void operator delete(void *p, std::size_t) noexcept { delete_block(p); }
void operator delete[](void *p, std::size_t) noexcept { delete_block(p); }
#endif
#if __cpp_aligned_new
void *operator new(std::size_t size, std::align_val_t align) { return new_or_throw(size, std::size_t(align)); }
void *operator new[](std::size_t size, std::align_val_t align) { return new_or_throw(size, std::size_t(align)); }
void operator delete(void *p, std::align_val_t) noexcept { delete_block(p); }
void operator delete[](void *p, std::align_val_t) noexcept { delete_block(p); }
void operator delete(void *p, std::size_t, std::align_val_t) noexcept { delete_block(p); }
void operator delete[](void *p, std::size_t, std::align_val_t) noexcept { delete_block(p); }
#endif
