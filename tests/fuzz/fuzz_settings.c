/* SPDX-License-Identifier: Apache-2.0 */

/* A settings file is written by people and found on disk: any bytes may stand in it. What is
 * accepted must be printable, in both forms. */

#include "fuzz.h"

#include "base/cleanup.h"
#include "config/load.h"

#include <string.h>

static void read_bytes(struct bj_loaded *loaded, const uint8_t *data, size_t size)
{
	struct bj_err err = { 0 };

	loaded->file = strdup("fuzz.yaml");
	if (!loaded->file)
		abort();
	if (bj_load_yaml(loaded, (const char *)data, size, &err) < 0 ||
	    bj_load_profile(loaded, &err) < 0) {
		if (err.code == 0 || err.msg[0] == '\0' || strlen(err.msg) >= sizeof(err.msg))
			abort();
		return;
	}

	AUTO_FREE char *text = bj_settings_show(&loaded->settings, NULL, false);
	AUTO_FREE char *json = bj_settings_show(&loaded->settings, NULL, true);

	if (!text || !json)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bj_settings *settings;

	/* The file is the input, not what this machine has. */
	clearenv();
	setenv("NAME", "value", 1);
	if (bj_settings_load("/dev/null", NULL, 0, &settings, NULL) < 0)
		abort();
	free(((struct bj_loaded *)settings)->file);
	read_bytes((struct bj_loaded *)settings, data, size);
	bj_settings_free(settings);
	return 0;
}
