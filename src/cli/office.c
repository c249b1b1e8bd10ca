/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/office.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int bj_office_open(const char *config, struct bj_office *ret, struct bj_err *err)
{
	struct bj_office office = { 0 };
	int r = bj_settings_load(config, NULL, 0, &office.settings, err);

	if (r == 0)
		r = bj_archive_open(office.settings, &office.archive, err);
	if (r == 0 && !office.archive)
		r = bj_err_set(err, BJ_E_UNSUPPORTED, 0,
			       "tenants are kept in the records; set record.enabled to true");
	if (r < 0) {
		bj_office_close(&office);
		return r;
	}
	*ret = office;
	return 0;
}

void bj_office_close(struct bj_office *office)
{
	bj_archive_close(office->archive);
	bj_settings_free(office->settings);
}

int bj_office_note(struct bj_office *office, const char *kind, json_t *data_take,
		   struct bj_err *err)
{
	const struct passwd *user = getpwuid(getuid());

	json_object_set_new(data_take, "actor", bj_audit_text(user ? user->pw_name : "?"));
	json_object_set_new(data_take, "uid", json_integer(getuid()));
	return bj_audit_append(office->archive->audit, kind, data_take, err);
}

int bj_office_print(json_t *value_take, struct bj_err *err)
{
	const int r = json_dumpf(value_take, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));

	json_decref(value_take);
	if (r < 0 || putchar('\n') == EOF || fflush(stdout) != 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot write to standard output");
	return 0;
}

const char *bj_office_time(const json_t *ms, char text[BJ_OFFICE_TIME])
{
	const time_t seconds = (time_t)(json_integer_value(ms) / 1000);
	struct tm utc;

	if (!json_is_integer(ms))
		return "-";
	gmtime_r(&seconds, &utc);
	strftime(text, BJ_OFFICE_TIME, "%Y-%m-%dT%H:%MZ", &utc);
	return text;
}
