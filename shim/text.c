/*
 * Output: options, a printf of integers, and the line that gathers. Calls nothing that a signal handler must not call.
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
static void write_to_fd(void *ctx, const char *text, size_t bytes)
{
	int fd = *(const int *)ctx;

	while (bytes) {
		ssize_t n = write(fd, text, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text += n;
		bytes -= (size_t)n;
	}
}
#endif

static void hand_on(void)
{
	size_t bytes = S.text_len;
	int saved = errno;

	S.text_len = 0;
	if (S.output && bytes)
		S.output(S.output_ctx, S.text, bytes);
#ifndef PMM_BARE
	if (!S.output) {
		int error = 2;

		write_to_fd(&error, S.text, bytes);
	}
#endif
	errno = saved;
}

static void put_char(char c)
{
	if (S.text_len == sizeof(S.text))
		hand_on();
	S.text[S.text_len++] = c;
	if (c == '\n' && option(PMM_FLUSH))
		hand_on();
}

/* How one directive wants its argument. */
struct form {
	int width, precision;
	unsigned char left, zero;
	unsigned char wide;		/* the argument is as wide as a long long: else as an int */
};

/* Text of so many bytes, in its width. */
static void put_padded(struct form *form, const char *text, int len)
{
	int fill = form->width - len;

	for (; fill > 0 && !form->left; fill--)
		put_char(form->zero ? '0' : ' ');
	while (len-- > 0)
		put_char(*text++);
	for (; fill > 0; fill--)
		put_char(' ');
}

static void put_number(struct form *form, unsigned long long value, char kind)
{
	char digits[24];
	int at = sizeof(digits), negative;
	unsigned base = kind == 'o' ? 8 : kind == 'x' || kind == 'X' || kind == 'p' ? 16 : 10;
	unsigned letter = kind == 'X' ? 'A' : 'a';

	if (!form->wide && (kind == 'd' || kind == 'i'))
		value = (unsigned long long)(int)value;
	negative = (kind == 'd' || kind == 'i') && (long long)value < 0;
	if (negative)
		value = 0 - value;
	do {
		unsigned digit = (unsigned)(value % base);

		digits[--at] = (char)(digit < 10 ? '0' + digit : letter + digit - 10);
	} while (value /= base);
	if (negative && form->zero && !form->left) {
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
	form->zero = 0;
	put_padded(form, text, len);
}

/* Flags, width, precision and size from behind a '%'; returns what stands behind them. */
static const char *parse_form(struct form *form, const char *f, va_list *args)
{
	int *number = &form->width;

	memset(form, 0, sizeof(*form));
	form->precision = -1;
	for (;; f++) {
		if (*f >= '0' && *f <= '9') {
			form->zero |= *f == '0' && number == &form->width && !*number;
			*number = *number * 10 + *f - '0';
		} else if (*f == '.') {
			number = &form->precision;
			*number = 0;
		} else if (*f == '*') {
			*number = va_arg(*args, int);
		} else if (*f == '-') {
			form->left = 1;
		} else if (*f == 'l') {
			form->wide |= sizeof(long) > sizeof(int) || f[1] == 'l';
		} else if (*f == 'z' || *f == 't') {
			form->wide = sizeof(size_t) > sizeof(int);
		} else if (*f == 'j') {
			form->wide = 1;
		} else if (*f != 'h' && *f != '+' && *f != ' ' && *f != '#') {
			return f;
		}
	}
}

/* One directive, from behind its '%'; returns its last character. */
static const char *put_directive(const char *f, va_list *args)
{
	struct form form;
	unsigned long long value;
	char c;

	f = parse_form(&form, f, args);
	switch (*f) {
	case 'e': case 'f': case 'g': case 'E': case 'F': case 'G':
		(void)va_arg(*args, double);
		put_char('?');
		break;
	case 's':
		put_string(&form, va_arg(*args, const char *));
		break;
	case 'p':	/* as wide on every machine */
		put_char('0');
		put_char('x');
		form.zero = 1;
		form.width = 16;
		form.wide = sizeof(void *) > sizeof(int);
		/* fall through */
	case 'd': case 'i': case 'u': case 'x': case 'X': case 'o': case 'c':
		value = form.wide ? va_arg(*args, unsigned long long) : va_arg(*args, unsigned);
		if (*f != 'c') {
			put_number(&form, value, *f);
			break;
		}
		c = (char)value;
		form.zero = 0;
		put_padded(&form, &c, 1);
		break;
	case 0:
		return f - 1;
	default:
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
