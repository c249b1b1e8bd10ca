/* SPDX-License-Identifier: Apache-2.0 */
#include "base/size.h"

#include "base/cleanup.h"
#include "belljar.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t factor;
};

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define TIB (UINT64_C(1) << 40)

static const struct unit SIZES[] = {
	{ "", 1 },      { "b", 1 },    { "k", KIB },   { "kb", KIB },  { "kib", KIB },
	{ "m", MIB },   { "mb", MIB }, { "mib", MIB }, { "g", GIB },   { "gb", GIB },
	{ "gib", GIB }, { "t", TIB },  { "tb", TIB },  { "tib", TIB }, { NULL, 0 },
};

static const struct unit DURATIONS[] = {
	{ "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { NULL, 0 },
};

static const struct unit CPUS[] = { { "", 1000 }, { NULL, 0 } };

/* A decimal number: whole part, and the fraction in billionths. */
struct decimal {
	uint64_t whole;
	uint64_t nano;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int read_whole(const char **p, uint64_t *ret)
{
	uint64_t v = 0;

	if (!is_digit(**p))
		return -BJ_E_INVALID;
	for (; is_digit(**p); (*p)++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(**p - '0'), &v))
			return -BJ_E_LIMIT;
	*ret = v;
	return 0;
}

/* Digits past the ninth are read and dropped. */
static int read_decimal(const char **p, struct decimal *ret)
{
	struct decimal d = { 0 };
	const int r = read_whole(p, &d.whole);

	if (r < 0)
		return r;
	if (**p == '.') {
		uint64_t place = 100000000;

		(*p)++;
		if (!is_digit(**p))
			return -BJ_E_INVALID;
		for (; is_digit(**p); (*p)++, place /= 10)
			d.nano += place * (uint64_t)(**p - '0');
	}
	*ret = d;
	return 0;
}

static int scale(const struct decimal *d, uint64_t factor, uint64_t *ret)
{
	/* Cannot overflow: factors stay below 2^41 and nano below 2^30. */
	const uint64_t part = (uint64_t)((unsigned __int128)d->nano * factor / 1000000000u);
	uint64_t v;

	if (__builtin_mul_overflow(d->whole, factor, &v) || __builtin_add_overflow(v, part, &v))
		return -BJ_E_LIMIT;
	*ret = v;
	return 0;
}

static int parse_with_unit(const char *text, const struct unit *units, uint64_t *ret)
{
	struct decimal d;
	const int r = read_decimal(&text, &d);

	if (r < 0)
		return r;
	for (const struct unit *u = units; u->name; u++)
		if (strcasecmp(text, u->name) == 0)
			return scale(&d, u->factor, ret);
	return -BJ_E_INVALID;
}

int bj_u64_parse(const char *text, uint64_t *ret)
{
	uint64_t v;
	const int r = read_whole(&text, &v);

	if (r < 0)
		return r;
	if (*text)
		return -BJ_E_INVALID;
	*ret = v;
	return 0;
}

int bj_size_parse(const char *text, uint64_t *ret)
{
	return parse_with_unit(text, SIZES, ret);
}

int bj_duration_parse_ms(const char *text, uint64_t *ret)
{
	uint64_t v;
	const int r = parse_with_unit(text, DURATIONS, &v);

	if (r < 0)
		return r;
	if (v == 0)
		return -BJ_E_INVALID;
	*ret = v;
	return 0;
}

int bj_cpus_parse_milli(const char *text, uint32_t *ret)
{
	uint64_t v;
	const int r = parse_with_unit(text, CPUS, &v);

	if (r < 0)
		return r;
	if (v == 0)
		return -BJ_E_INVALID;
	if (v > UINT32_MAX)
		return -BJ_E_LIMIT;
	*ret = (uint32_t)v;
	return 0;
}

static void format_unit(uint64_t v, const struct unit *units, size_t n, char text[BJ_SIZE_TEXT])
{
	size_t i = 0;

	while (i + 1 < n && (v == 0 || v % units[i].factor != 0))
		i++;
	snprintf(text, BJ_SIZE_TEXT, "%" PRIu64 "%s", v / units[i].factor, units[i].name);
}

void bj_size_format(uint64_t bytes, char text[BJ_SIZE_TEXT])
{
	static const struct unit units[] = {
		{ "TiB", TIB }, { "GiB", GIB }, { "MiB", MIB }, { "KiB", KIB }, { "", 1 },
	};

	format_unit(bytes, units, BJ_ARRAY_SIZE(units), text);
}

void bj_duration_format(uint64_t ms, char text[BJ_SIZE_TEXT])
{
	/* Minutes would hide what `timeout: 60` became, so seconds it is, up to an hour. */
	static const struct unit units[] = { { "h", 3600000 }, { "s", 1000 }, { "ms", 1 } };

	format_unit(ms, units, BJ_ARRAY_SIZE(units), text);
}

void bj_cpus_format(uint32_t milli, char text[BJ_SIZE_TEXT])
{
	int n = snprintf(text, BJ_SIZE_TEXT, "%" PRIu32 ".%03" PRIu32, milli / 1000, milli % 1000);

	while (n > 0 && text[n - 1] == '0')
		text[--n] = '\0';
	if (n > 0 && text[n - 1] == '.')
		text[n - 1] = '\0';
}
