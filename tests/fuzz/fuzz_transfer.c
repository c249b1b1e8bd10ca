/* SPDX-License-Identifier: Apache-2.0 */

/* Settings that another process hands over, ';' in place of the NUL that ends a text, so that seeds
 * can be read. It is read by itself and behind all settings. What passes is handed over again
 * unchanged. */

#include "fuzz.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "config/settings.h"

#include <stdlib.h>
#include <string.h>

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* What @settings are on the way, and after one more way. */
static void pass_on(const struct bj_settings *settings)
{
	AUTO_BUF struct bj_buf first = { 0 };
	AUTO_BUF struct bj_buf second = { 0 };
	struct bj_settings *copy = NULL;

	bj_settings_pack(settings, &first);
	require(!first.failed);
	require(bj_settings_unpack(first.data, first.size, &copy, NULL) == 0);
	bj_settings_pack(copy, &second);
	require(second.size == first.size && memcmp(first.data, second.data, first.size) == 0);
	bj_settings_free(copy);
}

/* All settings, before those of the input. */
static void add_defaults(struct bj_buf *to)
{
	static struct bj_settings *defaults;

	if (!defaults) {
		clearenv();
		require(bj_settings_load("/dev/null", NULL, 0, &defaults, NULL) == 0);
	}
	bj_settings_pack(defaults, to);
}

static void unpack(const char *text, size_t size)
{
	struct bj_settings *settings = NULL, *with = NULL;
	struct bj_err err = { 0 };
	const int r = bj_settings_unpack(text, size, &settings, &err);

	if (r < 0) {
		require(err.code == -r && err.msg[0]);
		return;
	}
	pass_on(settings);
	if (bj_settings_with_profile(settings, "small", &with, NULL) == 0)
		pass_on(with);
	bj_settings_free(with);
	bj_settings_free(settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF struct bj_buf text = { 0 };

	add_defaults(&text);

	const size_t defaults = text.size;

	for (size_t i = 0; i < size; i++)
		bj_buf_add(&text, data[i] == ';' ? "" : (const char *)&data[i], 1);
	require(!text.failed);
	unpack(text.data, text.size);
	unpack(text.data + defaults, size);
	return 0;
}
