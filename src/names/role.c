/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose code a frame is, by the names people give to run-time libraries and allocation wrappers.
 *
 * A stack's innermost frames are often not the program's: operator new, std::vector growing,
 * strdup, xmalloc. The line that a person looks for is the first below those. Names only choose
 * which line is shown first; the whole stack is always kept, so a wrong guess hides nothing.
 */
#include "src/names/names.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#define NR(a) (sizeof(a) / sizeof((a)[0]))

const char *frame_role_name(enum frame_role role)
{
	static const char *const name[] = {
		[FRAME_PROGRAM] = "program",
		[FRAME_RUNTIME] = "runtime",
		[FRAME_ALLOCATOR] = "allocator",
		[FRAME_MARK] = "mark",
	};

	_Static_assert(sizeof(name) / sizeof(*name) == FRAME_NR_ROLES, "a name for each");
	return name[role];
}

/* by the file's name; patterns as in fnmatch(3) */
static const char *const allocator_module[] = {
	"libpmm.so*",	    "libpmm_check.so*", "libjemalloc*.so*", "libtcmalloc*.so*",
	"libmimalloc*.so*", "libsnmalloc*.so*", "libhoard*.so*",    "librpmalloc*.so*",
};

static const char *const runtime_module[] = {
	"libc.so*", "libc-[0-9]*.so", "libm.so*", "libm-[0-9]*.so", "libdl.so*", "librt.so*",
	"libpthread*.so*", "ld-linux*.so*", "ld-[0-9]*.so", "ld-musl*.so*", "libc.musl*.so*",
	"libstdc++.so*", "libc++.so*", "libc++abi.so*", "libgcc_s.so*", "libsupc++.so*",
	"linux-vdso*", "[[]vdso[]]",
};

/* by the function's name; `*` only at the end */
static const char *const allocator_function[] = {
	"free",
	"cfree",
	"operator delete*",
	"malloc",
	"calloc",
	"realloc",
	"reallocarray",
	"posix_memalign",
	"aligned_alloc",
	"memalign",
	"valloc",
	"pvalloc",
	"__libc_malloc",
	"__libc_calloc",
	"__libc_realloc",
	"__libc_memalign",
	"_int_malloc",
	"_int_realloc",
	"_int_memalign",
	"tcache_*",
	"sysmalloc",
	"operator new*",
	"__gnu_cxx::new_allocator<*",
	"__gnu_cxx::__alloc_traits<*",
	"std::__new_allocator<*",
	"std::allocator<*",
	"std::allocator_traits<*",
	"std::__allocate_guarded<*",
	"std::_Vector_base<*",
	"std::__1::allocator<*",
	"std::__1::allocator_traits<*",
	"std::__1::__libcpp_allocate*",
	"std::__1::__allocate_at_least*",
	"alloc::alloc::*",
	"<alloc::alloc::*",
	"alloc::raw_vec::*",
	"__rust_alloc*",
	"__rust_realloc",
	"__rdl_alloc*",
	"__rdl_realloc",
	"__rg_alloc*",
	"std::alloc::*",
	"std::sys::alloc::*",
	"xmalloc*",
	"xcalloc*",
	"xrealloc*",
	"xnmalloc",
	"xnrealloc",
	"x2realloc",
	"x2nrealloc",
	"xpalloc",
	"xzalloc",
	"xstrdup",
	"xstrndup",
	"xmemdup*",
	"ximalloc",
	"xicalloc",
	"xirealloc",
	"zmalloc*",
	"zcalloc*",
	"zrealloc*",
	"ztrymalloc*",
	"ztrycalloc*",
	"ztryrealloc*",
	"g_malloc*",
	"g_try_malloc*",
	"g_realloc*",
	"g_try_realloc*",
	"g_slice_alloc*",
	"g_strdup",
	"g_strndup",
	"g_memdup*",
	"PyMem_Malloc",
	"PyMem_Calloc",
	"PyMem_Realloc",
	"PyMem_Raw*",
	"_PyMem_*",
	"PyObject_Malloc",
	"PyObject_Calloc",
	"PyObject_Realloc",
	"_PyObject_Malloc",
	"_PyObject_Calloc",
	"_PyObject_Realloc",
	"CRYPTO_malloc",
	"CRYPTO_zalloc",
	"CRYPTO_realloc",
	"Perl_safesys*",
	"Perl_safe*alloc",
	"sqlite3MemMalloc",
	"sqlite3MemRealloc",
	"sqlite3Malloc*",
	"sqlite3Realloc*",
	"sqlite3_malloc*",
	"sqlite3_realloc*",
	"sqlite3DbMalloc*",
	"sqlite3DbRealloc*",
	"dbMallocRawFinish",
	"_PyObject_GC_*",
	"_PyObject_New*",
	"PyType_GenericAlloc",
	"os::malloc",
	"os::realloc",
	"AllocateHeap",
	"ReallocateHeap",
	"CHeapObj*",
	"ngx_*alloc",
	"jv_mem_*",
	"ggc_internal_*",
	"ggc_alloc*",
	"apr_palloc*",
	"av_malloc*",
	"av_realloc*",
	"av_calloc",
	"pmm_malloc",
	"pmm_calloc",
	"pmm_realloc",
	"pmm_reallocarray",
	"pmm_strdup",
	"pmm_strndup",
	"pmm_aligned_alloc",
	"pmm_posix_memalign",
	"pmm_new",
	"pmm_pool_get_at",
	"pmm_grab",
	"pmm_mark_at",
	"pmm_free",
	"pmm_pool_put_at",
	"pmm_pool_fini_at",
};

/*
 * Of pmm.h's forms (shim/), compiled into the program: what its functions above may call. Names
 * that others have as well.
 */
static const char *const monitor_part[] = {
	"real_block",
	"real_malloc",
	"real_calloc",
	"real_realloc",
	"real_aligned_alloc",
	"get_block*",
	"get_with_care*",
	"get_tracked*",
	"pass_block*",
	"full_get",
	"full_resize",
	"resize",
	"resize_block*",
	"resize_by_copy*",
	"resize_stranger*",
	"resize_taken*",
	"obtain",
	"obtain_block",
	"copy_text",
	"new_or_null*",
	"new_or_throw*",
	"full_put",
	"full_stranger",
	"put_block*",
	"real_free*",
	"release",
	"release_block*",
	"trim_retained*",
	"trim_kept*",		/* its name in earlier versions */
};

static const char *const runtime_function[] = {
	"std::*",	"<std::*",	 "__gnu_cxx::*", "__cxxabiv1::*", "__cxa_*",
	"__gxx_*",	"core::*",	 "<core::*",	 "alloc::*",	  "<alloc::*",
	"hashbrown::*", "<hashbrown::*", "_start",	 "__libc_start*", "call_init",
	"_dl_*",	"dl_main",	 "start_thread", "clone",	  "clone3",
	"strdup",	"strndup",	 "memcpy",	 "memcpy@*",	  "__memcpy_chk",
	"memmove",	"mempcpy",	 "memset",	 "memcmp",	  "bcmp",
	"memchr",	"strcpy",	 "strncpy",	 "stpcpy",	  "strcat",
	"strncat",	"strlen",	 "strnlen",	 "strcmp",	  "strncmp",
	"strcasecmp",	"strncasecmp",	 "strchr",	 "strrchr",	  "strstr",
	"strspn",	"strcspn",	 "wcslen",	 "wcscpy",	  "wmemcpy",
};

static bool module_in(const char *path, const char *const *list, size_t nr)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < nr; i++)
		if (fnmatch(list[i], name, 0) == 0)
			return true;
	return false;
}

static bool function_in(const char *name, const char *const *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t len = strlen(list[i]);

		if (list[i][len - 1] == '*')
			len--;
		else
			len++; /* its end must match too */
		if (strncmp(name, list[i], len) == 0)
			return true;
	}
	return false;
}

/*
 * Where the qualified name begins in a demangled function: "void std::vector<int>::push_back(int)"
 * has its return type before it. "operator new(unsigned long)" has a space but no return type.
 */
static const char *name_start(const char *function)
{
	const char *start = function;
	int depth = 0;

	for (const char *p = function; *p; p++) {
		if (strncmp(p, "operator", 8) == 0 && depth == 0)
			break;
		if (*p == '<' || *p == '{')
			depth++;
		else if (*p == '>' || *p == '}')
			depth--;
		else if (*p == '(' && depth == 0)
			break;
		else if (*p == ' ' && depth == 0)
			start = p + 1;
	}
	return start;
}

/* "f(int)" and "f" are the same function to the lists above. */
static void plain_name(const char *function, char *out, size_t size)
{
	const char *start = name_start(function);
	size_t len = strcspn(start, "(");

	if (len >= size)
		len = size - 1;
	memcpy(out, start, len);
	out[len] = '\0';
}

/*
 * An implementation of a trait, "<X as Y>::f": the library's where Y is and X names nothing of the
 * program ("<T as alloc::vec::...>", "<[u8] as core::...>"; not "<server::Conn as
 * core::fmt::Display>::fmt").
 */
static bool library_trait(const char *name)
{
	static const char *const library[] = { "alloc::*", "core::*", "std::*", "hashbrown::*" };
	const char *as = name[0] == '<' ? strstr(name, " as ") : NULL;

	if (!as || !function_in(as + 4, library, NR(library)))
		return false;
	for (const char *p = name; p < as; p++) {
		const char *end = p;

		while (isalnum((unsigned char)*end) || *end == '_')
			end++;
		if (end == p)
			continue;
		if (!strncmp(end, "::", 2) && !function_in(p, library, NR(library)))
			return false;
		for (p = end; p < as && (isalnum((unsigned char)*p) || strchr("_:", *p)); p++)
			;		/* the rest of this path */
	}
	return true;
}

bool role_runtime_source(const char *file)
{
	const char *rustc = strstr(file, "/rustc/");

	return (rustc && strstr(rustc, "/library/")) || strstr(file, "/rustlib/src/rust/library/");
}

bool role_matches(const char *pattern, const char *function)
{
	char name[256];

	plain_name(function, name, sizeof(name));
	return !fnmatch(pattern, function, 0) || !fnmatch(pattern, name, 0);
}

bool role_in_monitor(const char *function)
{
	char name[256];

	if (!function)
		return false;
	plain_name(function, name, sizeof(name));
	return function_in(name, monitor_part, NR(monitor_part));
}

enum frame_role role_of(const char *module, const char *function)
{
	char name[256];

	if (module && module_in(module, allocator_module, NR(allocator_module)))
		return FRAME_ALLOCATOR;
	if (function && *function) {
		plain_name(function, name, sizeof(name));
		if (function_in(name, allocator_function, NR(allocator_function)))
			return FRAME_ALLOCATOR;
		if (function_in(name, runtime_function, NR(runtime_function)) ||
		    library_trait(function))
			return FRAME_RUNTIME;
	}
	if (module && module_in(module, runtime_module, NR(runtime_module)))
		return FRAME_RUNTIME;
	return FRAME_PROGRAM;
}
