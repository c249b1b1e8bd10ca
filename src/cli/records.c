/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/records.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/size.h"
#include "base/visible.h"

#include <pwd.h>
#include <string.h>
#include <time.h>

int bj_records_open(const char *config, struct bj_records *ret, struct bj_err *err)
{
	*ret = (struct bj_records){ 0 };

	int r = bj_settings_load(config, NULL, 0, &ret->settings, err);

	if (r == 0)
		r = bj_checker_new(ret->settings->user_rules, &ret->checker, err);
	if (r == 0)
		r = bj_archive_open(ret->settings, &ret->record.archive, err);
	if (r < 0)
		return r;
	if (!ret->record.archive)
		return bj_err_set(err, BJ_E_NOT_FOUND, 0,
				  "nothing is recorded here; record.enabled is false");
	ret->record.settings = ret->settings;
	ret->record.checker = ret->checker;
	return 0;
}

void bj_records_close(struct bj_records *r)
{
	bj_archive_close(r->record.archive);
	bj_checker_free(r->checker);
	bj_settings_free(r->settings);
	*r = (struct bj_records){ 0 };
}

const char *bj_records_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "-";
}

int bj_records_print(const char *text, size_t size, struct bj_err *err)
{
	AUTO_BUF struct bj_buf shown = { 0 };
	struct bj_visible visible = { .judged = true };
	int r;

	fflush(stdout);
	if (isatty(STDOUT_FILENO)) {
		bj_visible_add(&visible, &shown, text, size);
		bj_visible_end(&visible, &shown);
		r = bj_fd_write_all(STDOUT_FILENO, shown.data, shown.size);
	} else {
		r = bj_fd_write_all(STDOUT_FILENO, text, size);
	}
	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot write to standard output");
	return 0;
}

const char *bj_records_user(void)
{
	const struct passwd *user = getpwuid(getuid());

	return user ? user->pw_name : "somebody";
}

int bj_records_parse(const char *verb, const struct bj_option *options, int argc, char **argv,
		     struct bj_records_line *ret, struct bj_err *err)
{
	struct bj_parse p = { .argc = argc, .argv = argv, .next = 1 };
	int r;

	while ((r = bj_options_next(&p, options, err)) > 0) {
		if (!p.option && ret->id)
			return bj_err_set(err, BJ_E_INVALID, 0, "%s takes one run: belljar %s ID",
					  verb, verb);
		if (!p.option)
			ret->id = p.value;
		else if (strcmp(p.option->name, "json") == 0)
			ret->json = true;
		else
			ret->config = p.value;
	}
	if (r == 0 && !ret->id)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "no run given: belljar %s ID; `belljar history` lists them",
				  verb);
	return r;
}

int bj_records_time(const char *text, uint64_t *ret, struct bj_err *err)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S",
					     "%Y-%m-%dT%H:%M", "%Y-%m-%d" };
	const uint64_t now = bj_clock_unix_ms();
	uint64_t ago;

	for (size_t i = 0; i < BJ_ARRAY_SIZE(forms); i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, forms[i], &tm);

		if (end && *end == '\0') {
			const time_t seconds = timegm(&tm);

			*ret = seconds < 0 ? 0 : (uint64_t)seconds * 1000;
			return 0;
		}
	}

	AUTO_FREE char *span = strndup(text, strcspn(text, " "));

	if (!span || bj_duration_parse_ms(span, &ago) < 0)
		return bj_err_set(err, BJ_E_INVALID, 0,
				  "say a day (2026-01-31), a time (2026-01-31T12:00:00Z, UTC) or "
				  "how long ago (2h), not %.40s",
				  text);
	*ret = ago < now ? now - ago : 0;
	return 0;
}
