/*
 * Output: options, a printf of integers, and the line that gathers. Calls nothing that a signal handler must not call.
 */

/* Values at the start: all other options are 0. */
static size_t at_start(enum pmm_option which)
{
	switch (which) {
	case PMM_CANARY:
		return PMM_BEHIND;
	case PMM_AT_EXIT:
		return PMM_BLOCKS | PMM_TOTALS;
	case PMM_FLUSH:
		return 1;
	default:
		return 0;
	}
}

static size_t option(enum pmm_option which)
{
	return S.option[which] ^ at_start(which);
}

static void hand_on(void)
{
	size_t bytes = S.text_len;
	int saved = errno;

	if (!bytes)
		return;
	S.text_len = 0;
	if (S.output) {
		S.output(S.output_ctx, S.text, bytes);
	} else {
#ifndef PMM_BARE
		const char *text = S.text;

		while (bytes) {
			ssize_t n = write(2, text, bytes);

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				break;
			text += n;
			bytes -= (size_t)n;
		}
#endif
	}
	errno = saved;
}

static void put_char(char c)
{
	if (S.text_len == sizeof(S.text))
		hand_on();
	S.text[S.text_len++] = c;
	if (c == '\n' && !S.option[PMM_FLUSH])
		hand_on();
}

/* How one directive wants its argument. */
struct form {
	int left, zero, width, precision;
	char size;		/* 'l', 'q' for ll and j, 'z' for z and t, 0 */
};

static void put_padded(const struct form *form, const char *text, int len, char pad)
{
	int fill = form->width - len;

	if (!form->left)
		while (fill-- > 0)
			put_char(pad);
	while (len-- > 0)
		put_char(*text++);
	if (form->left)
		while (fill-- > 0)
			put_char(' ');
}

static void put_number(const struct form *form, unsigned long long value, unsigned base, int negative, int capital)
{
	char digits[24];
	int at = sizeof(digits);

	do {
		unsigned digit = (unsigned)(value % base);

		digits[--at] = (char)(digit < 10 ? '0' + digit : (capital ? 'A' : 'a') + digit - 10);
	} while (value /= base);
	if (negative && form->zero && !form->left) {
		struct form rest = *form;

		put_char('-');
		rest.width--;
		put_padded(&rest, digits + at, (int)sizeof(digits) - at, '0');
		return;
	}
	if (negative)
		digits[--at] = '-';
	put_padded(form, digits + at, (int)sizeof(digits) - at, form->zero ? '0' : ' ');
}

/* Flags, width, precision and size; returns what stands behind them. */
static const char *parse_form(struct form *form, const char *f, va_list *args)
{
	memset(form, 0, sizeof(*form));
	form->precision = -1;
	for (; *f == '-' || *f == '0' || *f == '+' || *f == ' ' || *f == '#'; f++) {
		form->left |= *f == '-';
		form->zero |= *f == '0';
	}
	if (*f == '*') {
		form->width = va_arg(*args, int);
		f++;
	}
	for (; *f >= '0' && *f <= '9'; f++)
		form->width = form->width * 10 + *f - '0';
	if (*f == '.') {
		form->precision = 0;
		if (*++f == '*') {
			form->precision = va_arg(*args, int);
			f++;
		}
		for (; *f >= '0' && *f <= '9'; f++)
			form->precision = form->precision * 10 + *f - '0';
	}
	for (; *f == 'h' || *f == 'l' || *f == 'z' || *f == 't' || *f == 'j'; f++)
		form->size = *f == 'j' || (*f == 'l' && form->size == 'l') ? 'q' : *f == 't' ? 'z' : *f;
	return f;
}

/* An argument is as wide as an int or as a long long, whatever it is called. */
static unsigned long long next_number(const struct form *form, va_list *args, int is_signed, int *negative)
{
	int wide = form->size == 'q' || (form->size == 'l' && sizeof(long) > sizeof(int)) ||
		(form->size == 'z' && sizeof(size_t) > sizeof(int));
	unsigned long long value = wide ? va_arg(*args, unsigned long long) : va_arg(*args, unsigned);

	*negative = 0;
	if (is_signed && !wide)
		value = (unsigned long long)(int)value;
	if (is_signed && (long long)value < 0) {
		*negative = 1;
		value = 0 - value;
	}
	return value;
}

static void put_string(const struct form *form, const char *text)
{
	int len = 0;

	if (!text)
		text = "(null)";
	while ((form->precision < 0 || len < form->precision) && text[len])
		len++;
	put_padded(form, text, len, ' ');
}

/* One directive, from behind its '%'; returns what stands behind it. */
static const char *put_directive(const char *f, va_list *args)
{
	static const struct form pointer = { 0, 1, 16, -1, 0 };
	struct form form;
	int negative;
	char c;

	f = parse_form(&form, f, args);
	switch (*f) {
	case 'd': case 'i': case 'u': case 'x': case 'X': case 'o': {
		unsigned long long value = next_number(&form, args, *f == 'd' || *f == 'i', &negative);

		put_number(&form, value, *f == 'o' ? 8 : *f == 'x' || *f == 'X' ? 16 : 10, negative, *f == 'X');
		break;
	}
	case 'p':	/* as wide on every machine */
		put_char('0');
		put_char('x');
		put_number(&pointer, (uintptr_t)va_arg(*args, void *), 16, 0, 0);
		break;
	case 's':
		put_string(&form, va_arg(*args, const char *));
		break;
	case 'c':
		c = (char)va_arg(*args, int);
		put_padded(&form, &c, 1, ' ');
		break;
	case 'e': case 'f': case 'g': case 'E': case 'F': case 'G':
		(void)va_arg(*args, double);
		put_char('?');
		break;
	case 0:
		return f;
	default:
		put_char(*f);
	}
	return f + 1;
}

static void put_args(const char *format, va_list args)
{
	va_list own;	/* an array on some machines: its address is wanted */

	va_copy(own, args);
	while (*format) {
		if (*format != '%')
			put_char(*format++);
		else
			format = put_directive(format + 1, &own);
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

static void tell(const struct at *at, const char *format, ...)
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
