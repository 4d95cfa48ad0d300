/* SPDX-License-Identifier: MIT */
/*
 * Output: options, a printf of integers, and the line that gathers. Calls nothing that a signal
 * handler must not call.
 */
static size_t options[NR_OPTIONS] = {	/* all others are 0 at the start */
	[PMM_CANARY] = PMM_BEHIND,
	[PMM_FOREIGN] = 1,
	[PMM_AT_EXIT] = PMM_BLOCKS | PMM_TOTALS,
	[PMM_FLUSH] = 1,
};

HOT size_t option(enum pmm_option which)
{
	return options[which];
}

#ifndef PMM_BARE
#if defined(__linux__)
#include <sys/syscall.h>
/* no thread is cancelled in there while it holds the lock */
#define WRITE(fd, text, bytes)	syscall(SYS_write, fd, text, bytes)
#else
#define WRITE(fd, text, bytes)	write(fd, text, bytes)
#endif

#if SMALL
#define write_quietly WRITE
#else
/*
 * Where there is no reader any more, SIGPIPE would end the program for our text: it waits until the
 * write is done, and is taken away.
 */
static ssize_t write_quietly(int fd, const char *text, size_t bytes)
{
	sigset_t pipe, old, pending;
	ssize_t n;
	int signo;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe, &old);
	n = WRITE(fd, text, bytes);
	if (n < 0 && errno == EPIPE && !sigismember(&old, SIGPIPE)) {
		sigpending(&pending);
		if (sigismember(&pending, SIGPIPE))
			sigwait(&pipe, &signo);
		errno = EPIPE;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return n;
}
#endif

static void write_to_fd(void *ctx, const char *text, size_t bytes)
{
	int fd = *(const int *)ctx;

	while (bytes) {
		ssize_t n = write_quietly(fd, text, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text += n;
		bytes -= (size_t)n;
	}
}
#endif

/*
 * Other code runs under the lock between these two: the thread is not cancelled there, for no
 * thread would ever get the lock again. An old glibc has what does that in the threads library,
 * which there may be none of.
 */
#if !defined(PMM_BARE) && !defined(PMM_NO_THREADS)
#include <pthread.h>
#endif
#ifdef PTHREAD_CANCEL_DISABLE
#pragma weak pthread_setcancelstate

APART int cancel_state(int state)
{
	if (pthread_setcancelstate)
		pthread_setcancelstate(state, &state);
	return state;
}
#define NO_CANCEL PTHREAD_CANCEL_DISABLE
#else
APART int cancel_state(int state)
{
	return state;
}
#define NO_CANCEL 0
#endif

static void hand_on(void)
{
	size_t bytes = (size_t)monitor.text_len;
	int saved = errno, state = cancel_state(NO_CANCEL);

	monitor.text_len = 0;
	if (monitor.output && bytes)
		monitor.output(monitor.output_ctx, monitor.text, bytes);
#ifndef PMM_BARE
	if (!monitor.output) {
		int error = 2;

		write_to_fd(&error, monitor.text, bytes);
	}
#endif
	cancel_state(state);
	errno = saved;
}

static void put_char(char c)
{
	if (monitor.text_len == sizeof(monitor.text))
		hand_on();
	monitor.text[monitor.text_len++] = c;
	if (c == '\n' && option(PMM_FLUSH))
		hand_on();
}

/* How one directive wants its argument. */
struct form {
	int width, precision;
	unsigned char left, zero;
	/* of the argument: SIZE_INT and so on, below 0 of shorter ones */
	signed char size;
};

enum { SIZE_INT, SIZE_LONG, SIZE_LONGEST };
#define SIZE_OF(type)                                                                              \
	(sizeof(type) == sizeof(int)	? SIZE_INT                                                 \
	 : sizeof(type) == sizeof(long) ? SIZE_LONG                                                \
					: SIZE_LONGEST)

/*
 * The next argument, a number or pointer. Where an int has the room of a long long among arguments
 * it is read as one.
 */
APART unsigned long long next_value(va_list *args, int size, int with_sign)
{
	unsigned long long value;

	if (sizeof(void *) == 8 || size >= (sizeof(long) < 8 ? SIZE_LONGEST : SIZE_LONG))
		value = va_arg(*args, unsigned long long);
	else if (size == SIZE_LONG)
		value = va_arg(*args, unsigned long);
	else
		value = va_arg(*args, unsigned);
	if (size <= SIZE_INT) {
		unsigned unused = size == SIZE_INT ? 32 : size == SIZE_INT - 1 ? 48 : 56;

		value = value << unused;
		value = with_sign ? (unsigned long long)((long long)value >> unused)
				  : value >> unused;
	}
	if (size == SIZE_LONG && with_sign)
		value = (unsigned long long)(long)value;
	return value;
}

/* Text of so many bytes, in its width. */
APART void put_padded(struct form *form, const char *text, int len)
{
	int fill = form->width - len;

	for (; fill > 0 && !form->left; fill--)
		put_char(form->zero ? '0' : ' ');
	while (len-- > 0)
		put_char(*text++);
	for (; fill > 0; fill--)
		put_char(' ');
}

static void put_number(struct form *form, unsigned long long value, unsigned base, int negative,
		       unsigned letter)
{
	char digits[24];
	int at = sizeof(digits);

	if (negative)
		value = 0 - value;
	do {
		unsigned digit = (unsigned)(value % base);

		digits[--at] = (char)(digit < 10 ? '0' + digit : letter + digit);
	} while (value /= base);
	if (negative && form->zero) {
		put_char('-');
		form->width--;
	} else if (negative) {
		digits[--at] = '-';
	}
	put_padded(form, digits + at, (int)sizeof(digits) - at);
}

static void put_string(struct form *form, const char *text)
{
	int len = 0;

	if (!text)
		text = "(null)";
	while (len != form->precision && text[len])
		len++;
	put_padded(form, text, len);
}

/* Where a character is in a text, from 1; 0: it is not. */
APART unsigned place_in(const char *text, char c)
{
	unsigned i;

	for (i = 0; text[i]; i++)
		if (text[i] == c)
			return i + 1;
	return 0;
}

/* Flags, width, precision and size from behind a '%'; returns what is behind them. */
static const char *parse_form(struct form *form, const char *f, va_list *args)
{
	int *number = &form->width;

	memset(form, 0, sizeof(*form));
	form->precision = -1;
	for (;; f++) {
		if (*f >= '0' && *f <= '9') {
			if (*f == '0' && number == &form->width && !*number)
				form->zero = 1;
			*number = *number * 10 + *f - '0';
		} else if (*f == '.') {
			number = &form->precision;
			*number = 0;
		} else if (*f == '*') {
			*number = (int)next_value(args, SIZE_INT, 1);
		} else if (*f == '-') {
			form->left = 1;
		} else if (*f == 'l') {
			form->size++;
		} else if (*f == 'h') {
			form->size--;
		} else if (*f == 'z' || *f == 't') {
			form->size = SIZE_OF(size_t);
		} else if (*f == 'j' || (!SMALL && *f == 'L')) {
			form->size = SIZE_LONGEST;
		} else if (!place_in("+ #", *f)) {
			return f;
		}
	}
}

/* The base of a number, 1 for text and 0 for what else a directive may be for. */
static unsigned base_of(char kind)
{
	static const unsigned char base[] = { 0, 1, 1, 8, 16, 16, 16, 10, 10, 10 };

	return base[place_in("scoxXpdiu", kind)];
}

/* One directive of a base, from behind its '%'. */
static void put_value(struct form *form, char kind, unsigned base, va_list *args)
{
	int with_sign = kind == 'd' || kind == 'i', is_pointer = kind == 's' || kind == 'p';
	unsigned long long value = next_value(args, is_pointer ? SIZE_OF(void *) : form->size,
					      with_sign);
	char c = (char)value;

	if (base > 1) {
		put_number(form, value, base, with_sign && (long long)value < 0,
			   kind == 'X' ? 'A' - 10 : 'a' - 10);
		return;
	}
	form->zero = 0;
	if (is_pointer)
		put_string(form, (const char *)(uintptr_t)value);
	else
		put_padded(form, &c, 1);
}

/* One directive, from behind its '%'; returns its last character. */
static const char *put_directive(const char *f, va_list *args)
{
	struct form form;
	unsigned base;

	f = parse_form(&form, f, args);
	base = base_of(*f);
	if (!*f)
		return f - 1;
	if (*f == 'p') {	/* as wide on every machine */
		put_char('0');
		put_char('x');
		form.zero = 1;
		form.width = 16;
	}
	if (base) {
		put_value(&form, *f, base, args);
	} else if ((*f | 32) >= 'e' && (*f | 32) <= 'g') {
		/* long double, which small programs hardly have */
		if (!SMALL && form.size == SIZE_LONGEST)
			(void)va_arg(*args, long double);
		else
			(void)va_arg(*args, double);
		put_char('?');
	} else {
		put_char(*f);
	}
	return f;
}

static void put_args(const char *format, va_list args)
{
	va_list own;	/* an array on some machines: its address is wanted */

	va_copy(own, args);
	for (; *format; format++) {
		if (*format == '%')
			format = put_directive(format + 1, &own);
		else
			put_char(*format);
	}
	va_end(own);
}

static void put_text(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_args(format, args);
	va_end(args);
}

static void say(const struct at *at, const char *format, ...)
{
	va_list args;

	if (at && at->line)
		put_text("pmm: %s(%u): ", at->file, (unsigned)at->line);
	else
		put_text("pmm: ");
	va_start(args, format);
	put_args(format, args);
	va_end(args);
	put_char('\n');
	hand_on();
}
