# SPDX-License-Identifier: GPL-2.0-or-later
"""How a bug's memory is allocated, accessed and released, and on what way the program gets there: the axes of generated bugs, as tables."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A way to allocate a block of n bytes. `make` gives the pointer that the program has, `lead` bytes behind the block's start."""
    name: str
    make: str
    drop: str = "free"  # a release of RELEASES, or a statement with {p} where the block has an owner
    kind: str = "malloc"
    align: int = 16
    lead: int = 0
    unit: int = 1  # sizes are multiples of this
    least: int = 1
    fixed: int = 0  # the only size there is
    most: int = 1 << 20
    cxx: bool = False
    more: str = ""  # definitions
    grows: str = ""  # what makes an owner move its block to another place

    @property
    def plain(self):
        """Does the program itself release it?"""
        return "{p}" not in self.drop


ENTRIES = [
    Entry("malloc", "malloc({n})"),
    Entry("calloc", "calloc(1, {n})", kind="calloc"),
    Entry("realloc-null", "realloc(NULL, {n})", kind="realloc"),
    Entry("realloc-grown", "realloc(malloc({n} / 3 + 1), {n})", kind="realloc", least=4),
    Entry("realloc-shrunk", "realloc(malloc({n} * 2 + 40), {n})", kind="realloc"),
    Entry("reallocarray", "reallocarray(NULL, {n}, 1)", kind="reallocarray"),
    Entry("memalign-64", "memalign(64, {n})", kind="memalign", align=64),
    Entry("memalign-8", "memalign(8, {n})", kind="memalign"),
    Entry("posix_memalign-32", "by_posix_memalign(32, {n})", kind="posix_memalign", align=32),
    Entry("posix_memalign-4096", "by_posix_memalign(4096, {n})", kind="posix_memalign", align=4096),
    Entry("aligned_alloc-16", "aligned_alloc(16, {n})", kind="aligned_alloc", unit=16),
    Entry("aligned_alloc-256", "aligned_alloc(256, {n})", kind="aligned_alloc", align=256, unit=256),
    Entry("valloc", "valloc({n})", kind="valloc", align=4096),
    Entry("pvalloc", "pvalloc({n})", kind="pvalloc", align=4096, unit=4096),
    Entry("strdup", "strdup(text({n} - 1))"),
    Entry("strndup", "strndup(text({n} + 7), {n} - 1)"),
    Entry("wcsdup", "wcsdup(wtext({n} / 4 - 1))", unit=4),
    Entry("asprintf", "({{ char *p_ = NULL; asprintf(&p_, \"%s\", text({n} - 1)) < 0 ? NULL : p_; }})", kind="*"),
    Entry("getline", "by_getline({n})", fixed=120),
    Entry("memstream", "in_stream({n})", kind="*"),
    Entry("scanf-m", "by_scanf({n})", kind="*", least=2),
    Entry("getcwd", "getcwd(NULL, {n})", least=512),
    Entry("new", "operator new({n})", "delete", "new", cxx=True),
    Entry("new-array", "new char[{n}]", "delete[]", "new[]", cxx=True),
    Entry("new-nothrow", "operator new({n}, std::nothrow)", "delete", "new", cxx=True),
    Entry("new-array-nothrow", "new (std::nothrow) char[{n}]", "delete[]", "new[]", cxx=True),
    Entry("new-aligned-64", "operator new({n}, std::align_val_t(64))", "delete-aligned-64", "new(aligned)", align=64, cxx=True),
    Entry("new-array-aligned-32", "operator new[]({n}, std::align_val_t(32))", "delete[]-aligned-32", "new[](aligned)", align=32, cxx=True),
    Entry("new-object", "new Object_{id}", "delete (Object_{id} *){p};", "new", cxx=True,
          more="struct Object_{id} {{ char data[{n}]; ~Object_{id}() {{ seen = 2; }} }};"),
    Entry("new-objects", "new Element_{id}[{n} / 8 - 1]", "delete[] (Element_{id} *){p};", "new[]", lead=8, unit=8, least=16, cxx=True,
          more="struct Element_{id} {{ char data[8]; ~Element_{id}() {{ seen = 2; }} }};"),
    Entry("vector", "(vector_{id} = std::vector<char>({n})).data()", "std::vector<char>().swap(vector_{id}), (void){p};", "new", cxx=True,
          more="static std::vector<char> vector_{id};", grows="vector_{id}.push_back(1)"),
    Entry("string", "(string_{id}.reserve({n} - 1), &string_{id}[0])", "std::string().swap(string_{id}), (void){p};", "new", least=40, cxx=True,
          more="static std::string string_{id};", grows="string_{id}.append(string_{id}.capacity() + 1, 'y')"),
    Entry("list", "(list_{id}.emplace_back(), list_{id}.back().data)", "list_{id}.clear(), (void){p};", "new", lead=16, unit=8, least=24, cxx=True,
          more="struct Item_{id} {{ char data[{n} - 16]; }}; static std::list<Item_{id}> list_{id};"),
    Entry("shared", "(shared_{id} = std::make_shared<Shared_{id}>())->data", "shared_{id}.reset(), (void){p};", "new", lead=16, unit=8, least=24,
          cxx=True, more="struct Shared_{id} {{ char data[{n} - 16]; }}; static std::shared_ptr<Shared_{id}> shared_{id};"),
    Entry("unique", "(unique_{id} = std::make_unique<char[]>({n})).get()", "unique_{id}.reset(), (void){p};", "new[]", cxx=True,
          more="static std::unique_ptr<char[]> unique_{id};"),
]

# Releases: how the code says it, what a finding calls it.
RELEASES = {
    "free": ("free({p})", "free"),
    "realloc": ("other = (char *)realloc({p}, 200)", "realloc"),
    "delete": ("operator delete({p})", "delete"),
    "delete[]": ("operator delete[]({p})", "delete[]"),
    "delete-sized": ("operator delete({p}, (size_t){n})", "delete with a size"),
    "delete-other-size": ("operator delete({p}, (size_t)({n} + {d}))", "delete with a size"),
    "delete[]-sized": ("operator delete[]({p}, (size_t){n})", "delete[] with a size"),
    "delete[]-other-size": ("operator delete[]({p}, (size_t)({n} + {d}))", "delete[] with a size"),
    "delete-aligned-64": ("operator delete({p}, std::align_val_t(64))", "delete with an alignment"),
    "delete-aligned-128": ("operator delete({p}, std::align_val_t(128))", "delete with an alignment"),
    "delete[]-aligned-32": ("operator delete[]({p}, std::align_val_t(32))", "delete[] with an alignment"),
    "delete-nothrow": ("operator delete({p}, std::nothrow)", "delete"),
}

# What is right for each kind of block.
PAIRS = {
    "new": {"delete", "delete-sized", "delete-nothrow"},
    "new[]": {"delete[]", "delete[]-sized"},
    "new(aligned)": {"delete-aligned-64"},
    "new[](aligned)": {"delete[]-aligned-32"},
}


def pairs(entry):
    return PAIRS.get(entry.kind, {"free", "realloc"})


@dataclass(frozen=True)
class Way:
    """A way to access [at, at + len) from a block's start."""
    name: str
    code: str
    by: str  # direct, function, library (one that is not hooked), kernel
    access: str  # read, write, both
    width: int = 0  # the only length there is
    unit: int = 1  # start and length are multiples of this
    string: bool = False  # reads up to a NUL, which is missing
    inside: bool = False  # begins in the block, whatever the bug
    calls: str = ""  # the function's name
    most: int = 1 << 20
    least: int = 1
    files: bool = False  # fills as natively, and is looked at afterwards
    fills: bool = False  # goes on only as long as there is no NUL


def direct(width):
    yield Way(f"write-{width}", f"WRITE({width}, p + at);", "direct", "write", width)
    yield Way(f"read-{width}", f"READ({width}, p + at);", "direct", "read", width)


def copied(width):
    yield Way(f"assign-{width}", f"struct s {{ char c[{width}]; }}; static struct s from; *(struct s *)(p + at) = from; hide(p);",
              "direct", "write", width)
    yield Way(f"fetch-{width}", f"struct s {{ char c[{width}]; }}; static struct s to; to = *(struct s *)(p + at); hide(&to);", "direct", "read", width)


def function(name, code, access, **more):
    return Way(more.pop("named", name), code, "function", access, calls=name, **more)


WAYS = [
    *(w for width in (1, 2, 4, 8, 16, 32) for w in direct(width)),
    *(w for width in (24, 48) for w in copied(width)),
    Way("increment", "INC(p + at);", "direct", "write", 1),
    Way("atomic-4", "ADD(4, p + at);", "direct", "write", 4, unit=4),
    Way("atomic-8", "ADD(8, p + at);", "direct", "write", 8, unit=8),
    Way("loop-write", "for (long i = at; i < at + len; i++) ((volatile char *)p)[i] = 1;", "direct", "write"),
    Way("loop-read", "for (long i = at; i < at + len; i++) seen = ((volatile char *)p)[i];", "direct", "read"),
    Way("down-write", "for (long i = at + len; i-- > at; ) ((volatile char *)p)[i] = 1;", "direct", "write"),
    Way("down-read", "for (long i = at + len; i-- > at; ) seen = ((volatile char *)p)[i];", "direct", "read"),
    Way("rep-stos", "rep_store(p + at, len);", "direct", "write"),
    Way("rep-movs", "rep_move(room, p + at, len);", "direct", "read"),
    function("memset", "memset(p + at, 1, len);", "write"),
    function("memcpy", "memcpy(p + at, text(len), len);", "write"),
    function("memmove", "memmove(p + at, text(len), len);", "write"),
    function("mempcpy", "mempcpy(p + at, text(len), len);", "write"),
    function("memccpy", "memccpy(p + at, text(len), 0, len);", "write"),
    function("bzero", "bzero(p + at, len);", "write"),
    function("strcpy", "strcpy(p + at, text(len - 1));", "write"),
    function("stpcpy", "stpcpy(p + at, text(len - 1));", "write"),
    function("strncpy", "strncpy(p + at, \"x\", len);", "write"),
    function("strcat", "p[at] = 0; strcat(p + at, text(len - 1));", "write", inside=True),
    function("strncat", "p[at] = 0; strncat(p + at, text(len), len - 1);", "write", inside=True),
    function("sprintf", "sprintf(p + at, \"%s\", text(len - 1));", "write"),
    function("snprintf", "snprintf(p + at, len, \"%s\", text(len + 5));", "write", least=2),
    function("wmemset", "wmemset((wchar_t *)(p + at), L'x', len / 4);", "write", unit=4),
    function("wmemcpy", "wmemcpy((wchar_t *)(p + at), wtext(len / 4), len / 4);", "write", unit=4),
    function("wcscpy", "wcscpy((wchar_t *)(p + at), wtext(len / 4 - 1));", "write", unit=4),
    function("read", "if (read(file_of(len), p + at, len) < 0) seen = 1;", "write", files=True),
    function("pread", "if (pread(file_of(len), p + at, len, 0) < 0) seen = 1;", "write", files=True),
    function("readv", "struct iovec v = { p + at, (size_t)len }; if (readv(file_of(len), &v, 1) < 0) seen = 1;", "write", files=True),
    function("recv", "if (recv(socket_of(len), p + at, len, 0) < 0) seen = 1;", "write", files=True, most=60000),
    function("fread", "if (fread(p + at, 1, len, stream_of(len)) == 0) seen = 1;", "write", files=True),
    function("fgets", "if (!fgets(p + at, len, stream_of(len))) seen = 1;", "write", files=True, least=2),
    function("memcpy", "memcpy(room, p + at, len);", "read", named="memcpy-from"),
    function("memmove", "memmove(room, p + at, len);", "read", named="memmove-from"),
    function("memchr", "seen = memchr(p + at, 7, len) != NULL;", "read"),
    function("strnlen", "seen = strnlen(p + at, len);", "read", fills=True),
    function("write", "if (write(sink(), p + at, len) < 0) seen = 1;", "read", named="write-from"),
    function("send", "if (send(socket_sink(), p + at, len, MSG_DONTWAIT) < 0) seen = 1;", "read", named="send-from", most=60000),
    function("fwrite", "if (fwrite(p + at, 1, len, stream_sink()) == 0) seen = 1;", "read", named="fwrite-from"),
    function("strlen", "seen = strlen(p + at);", "read", string=True),
    function("strchr", "seen = strchr(p + at, '7') != NULL;", "read", string=True),
    function("strspn", "seen = strspn(p + at, \"123\");", "read", string=True),
    function("strcpy", "strcpy(room, p + at);", "read", named="strcpy-from", string=True),
    function("strdup", "free(strdup(p + at));", "read", named="strdup-from", string=True),
    function("sprintf", "sprintf(room, \"<%s>\", p + at);", "read", named="sprintf-from", string=True),
    function("fprintf", "fprintf(stream_sink(), \"<%s>\", p + at);", "read", named="fprintf-from", string=True),
    function("fputs", "fputs(p + at, stream_sink());", "read", named="fputs-from", string=True),
    function("wcslen", "seen = wcslen((wchar_t *)(p + at));", "read", string=True, unit=4),
    Way("atoi", "seen = atoi(p + at);", "library", "read", string=True),
    Way("strtod", "seen = strtod(p + at, NULL) > 1;", "library", "read", string=True),
    Way("sscanf-from", "int i_; seen = sscanf(p + at, \"%d\", &i_);", "library", "read", string=True),
    Way("sscanf", "seen = sscanf(text(len - 1), \"%s\", p + at);", "library", "write", least=2),
    Way("qsort", "qsort(p + at, len, 1, compare_bytes);", "library", "both", least=2, most=5000),
    Way("strftime", "static struct tm tm; strftime(p + at, 20, \"%Y-%m-%d %H:%M:%S\", &tm);", "library", "write", 20),
    function("clock_gettime", "clock_gettime(CLOCK_REALTIME, (struct timespec *)(p + at));", "write", width=16),
    Way("getrandom", "if (syscall(SYS_getrandom, p + at, len, 0) < 0) seen = 1;", "kernel", "write", most=20000),
    Way("fstat", "if (syscall(SYS_fstat, sink(), p + at) < 0) seen = 1;", "kernel", "write", 144),
    Way("syscall-write", "if (syscall(SYS_write, sink(), p + at, len) < 0) seen = 1;", "kernel", "read"),
]

FLOWS = ["straight", "loop", "recursion", "pointer", "thread", "signal", "altstack", "fork", "jump", "atexit", "destructor", "busy"]
FLOWS_CXX = ["straight", "loop", "recursion", "catch", "unwinding", "virtual", "lambda", "cxx-thread", "static", "fork", "signal", "busy"]

SIZES = [1, 2, 3, 5, 7, 8, 12, 15, 16, 17, 20, 24, 31, 32, 33, 40, 48, 57, 63, 64, 65, 96, 100, 120, 128, 200, 255, 256, 257, 500, 1000, 1024, 2000, 4000,
         4080, 4095, 4096, 4097, 5000, 8192, 10000, 65535, 65536, 70000, 131072, 200000]
OFFSETS = [1, 1, 1, 2, 3, 4, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 64, 65, 100, 256, 1000, 4000, 4096, 5000]
