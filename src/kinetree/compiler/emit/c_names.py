"""Names in C: which a function may have, and one that it may have made from any other."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KEYWORDS = _words(
    """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while main alignas alignof bool constexpr false nullptr static_assert
    thread_local true typeof typeof_unqual asm fortran linux unix and and_eq bitand bitor catch
    char8_t char16_t char32_t class co_await co_return co_yield compl concept const_cast consteval
    constinit decltype delete dynamic_cast explicit export friend mutable namespace new noexcept
    not not_eq operator or or_eq private protected public reinterpret_cast requires static_cast
    template this throw try typeid typename using virtual wchar_t xor xor_eq
    """
)
"""Words of C and of C++, whose compilers read the header, and macros of GNU C."""
FUNCTIONS_OF_REALS = _words(
    """
    acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 exp10 expm1 frexp
    ilogb ldexp log log10 log1p log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc
    lgamma tgamma ceil floor nearbyint rint lrint llrint round lround llround trunc fmod remainder
    remquo copysign nan nextafter nexttoward fdim fmax fmin fma sincos pow10 gamma significand drem
    finite isinf isnan j0 j1 jn y0 y1 yn scalb lgamma_r strto roundeven fmaximum fminimum
    canonicalize
    """
)
"""Functions for doubles; with f and l those for the other real types."""
FUNCTIONS = _words(
    """
    fpclassify isfinite isnormal signbit isgreater isgreaterequal isless islessequal islessgreater
    isunordered issignaling iseqsig signgam matherr strtod strtof strtold
    clearerr fclose feof ferror fflush fgetc fgetpos fgets fopen fprintf fputc fputs fread freopen
    fscanf fseek fsetpos ftell fwrite getc getchar gets perror printf putc putchar puts remove
    rename rewind scanf setbuf setvbuf snprintf sprintf sscanf tmpfile tmpnam ungetc vfprintf
    vfscanf vprintf vscanf vsnprintf vsprintf vsscanf asprintf vasprintf dprintf vdprintf getline
    getdelim fdopen fileno fmemopen open_memstream popen pclose ctermid cuserid tempnam fseeko
    ftello flockfile ftrylockfile funlockfile getw putw renameat fcloseall fopencookie
    obstack_printf obstack_vprintf setbuffer setlinebuf stdin stdout stderr
    lgammaf_r lgammal_r tmpnam_r
    abort abs aligned_alloc alloca atexit at_quick_exit atof atoi atol atoll bsearch calloc div exit
    free getenv labs ldiv llabs lldiv malloc mblen mbstowcs mbtowc qsort quick_exit rand random
    realloc reallocarray srand srandom strtol strtoll strtoul strtoull system wcstombs wctomb memchr
    memcmp memcpy mempcpy memmove memset strcat strchr strcmp strcoll strcpy strcspn strdup strerror
    strlen strncat strncmp strncpy strndup strpbrk strrchr strspn strstr strtok strxfrm index rindex
    bcmp bcopy bzero isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace
    isupper isxdigit tolower toupper isascii toascii asctime clock ctime difftime gmtime localtime
    mktime strftime time signal raise longjmp setjmp setlocale localeconv assert errno offsetof
    cabs carg cimag conj cproj creal ffs read write open close link unlink access fork pipe sleep
    select accept bind connect listen send recv socket wait kill stat mmap
    """
)
TYPES = _words(
    """
    size_t ssize_t off_t off64_t fpos_t fpos64_t va_list float_t double_t ptrdiff_t max_align_t
    div_t ldiv_t lldiv_t time_t clock_t FILE cookie_io_functions_t int8_t int16_t int32_t int64_t
    uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t
    """
)
MACROS = _words(
    """
    NULL EOF BUFSIZ FILENAME_MAX FOPEN_MAX TMP_MAX L_tmpnam L_ctermid L_cuserid P_tmpdir SEEK_SET
    SEEK_CUR SEEK_END SEEK_DATA SEEK_HOLE RENAME_NOREPLACE RENAME_EXCHANGE RENAME_WHITEOUT HUGE_VAL
    HUGE_VALF HUGE_VALL HUGE INFINITY NAN SNAN SNANF SNANL MAXFLOAT DOMAIN SING OVERFLOW UNDERFLOW
    PLOSS TLOSS X_TLOSS MATH_ERRNO MATH_ERREXCEPT math_errhandling M_E M_LOG2E M_LOG10E M_LN2 M_LN10
    M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 APART
    """
)
RESERVED = ("_", "FP_")
"""How other names of the library begin."""
HEADERS = _words(
    """
    alloca assert complex ctype endian errno features fenv float inttypes iso646 limits locale
    math malloc memory setjmp signal stdalign stdarg stdatomic stdbit stdbool stdckdint stddef
    stdint stdio stdlib stdnoreturn string strings tgmath threads time uchar unistd values wchar
    wctype
    """
)
"""Headers of the C library: a function's own header has its name, and would be read instead."""
TARGETS = _words(
    """
    all all_build clean default_target depend edit_cache help install list_install_components
    package package_source preinstall rebuild_cache run_tests test zero_check
    """
)
"""Names that CMake keeps for itself."""
LIBRARY = frozenset(
    [
        *(f"{name}{suffix}" for name in FUNCTIONS_OF_REALS for suffix in ("", "f", "l")),
        *FUNCTIONS,
        *TYPES,
        *MACROS,
    ]
)


def identifier(name: str) -> str:
    """A valid C identifier made from any name."""
    text = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    return text if is_identifier(text) else f"x_{text}"


def is_identifier(name: str) -> bool:
    """Whether a name is a valid C identifier, and neither a word of C nor its library's."""
    return (
        name.isascii()
        and name.isidentifier()
        and not name.startswith(RESERVED)
        and not name.endswith("_unlocked")
        and name not in KEYWORDS
        and name not in LIBRARY
    )


def is_function_name(name: str) -> bool:
    """Whether a function and its files may have a name."""
    reserved = name.endswith("_t")  # names of types, which POSIX reserves and C libraries add
    return is_identifier(name) and not reserved and name.lower() not in HEADERS | TARGETS
