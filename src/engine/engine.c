/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/log.h"
#include "engine/backends.h"
#include "jar/creds.h"
#include "seccomp/filters.h"
#include "seccomp/profile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int compile_filter(struct belljar *bj, struct bj_err *err)
{
	if (!bj->settings->seccomp)
		return 0;
	bj->filter = calloc(1, sizeof(*bj->filter));
	if (!bj->filter)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the seccomp profile");
	return bj_profile_compile_file(bj->settings->seccomp, bj->filter, err);
}

/* An ordinary user whose home cannot be written, and who asked for nothing else, may run scripts
 * all the same. Who set where records go, or that there are to be some, is taken at his word. */
static bool may_go_without(const struct bj_settings *settings, const struct bj_err *err)
{
	if (geteuid() == 0 || bj_settings_was_set(settings, "state_dir") ||
	    bj_settings_was_set(settings, "record.enabled"))
		return false;
	return err->code == BJ_E_NOT_FOUND || err->errnum == ENOENT || err->errnum == EACCES ||
	       err->errnum == EROFS || err->errnum == ENOTDIR || err->errnum == EPERM;
}

static int open_records(struct belljar *bj, struct bj_err *err)
{
	int r = bj_archive_open_to_run(bj->settings, &bj->record.archive, err);

	if (r < 0 && may_go_without(bj->settings, err)) {
		bj_log(BJ_LOG_WARN, "this run is not recorded: %s", err->msg);
		r = 0;
	}
	bj->record.settings = bj->settings;
	bj->record.checker = bj->checker;
	return r;
}

static int make(struct bj_settings *settings_take, bool soon, struct belljar **ret,
		struct bj_err *err)
{
	struct belljar *bj = calloc(1, sizeof(*bj));

	if (!bj) {
		bj_settings_free(settings_take);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot open belljar");
	}
	bj->settings = settings_take;
	bj->soon = soon;

	/* These come first: they are forked from a process that has read nothing yet, and come
	 * up while the rest is made. */
	int r = bj_backends_pin(bj->settings, err);

	if (r == 0)
		r = bj_backends_start(bj, err);
	if (r == 0)
		r = bj_checker_new(bj->settings->user_rules, &bj->checker, err);
	if (r == 0)
		r = compile_filter(bj, err);
	if (r == 0)
		r = open_records(bj, err);
	if (r < 0) {
		bj_close(bj);
		return r;
	}
	*ret = bj;
	return 0;
}

int bj_engine_new(struct bj_settings *settings_take, struct belljar **ret, struct bj_err *err)
{
	return make(settings_take, false, ret, err);
}

int bj_engine_new_to_run(struct bj_settings *settings_take, struct belljar **ret,
			 struct bj_err *err)
{
	return make(settings_take, true, ret, err);
}

int bj_engine_make_parts(struct bj_settings *settings, struct bj_engine_parts *ret,
			 struct bj_err *err)
{
	struct bj_engine_parts parts = BJ_ENGINE_NO_PARTS;
	struct belljar bj = { .settings = settings, .warm = true };
	int r = 0;

	if (settings->seccomp)
		r = bj_profile_compile_file(settings->seccomp, &parts.filter, err);
	if (r == 0)
		r = bj_backends_pin(settings, err);
	if (r == 0)
		r = bj_backends_start(&bj, err);
	bj_backends_release(&bj, &parts);
	if (r < 0) {
		bj_engine_parts_done(&parts);
		return r;
	}
	*ret = parts;
	return 0;
}

void bj_engine_parts_done(struct bj_engine_parts *parts)
{
	for (int i = 0; i < BJ_ENGINE_PROCESSES; i++) {
		if (parts->control[i] >= 0)
			close(parts->control[i]);
		parts->control[i] = -1;
	}
	bj_buf_done(&parts->filter);
}

/* The filter's bytes move to @bj. */
static int take_filter(struct belljar *bj, struct bj_engine_parts *parts, struct bj_err *err)
{
	if (parts->filter.size == 0)
		return 0;
	bj->filter = calloc(1, sizeof(*bj->filter));
	if (!bj->filter)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot hold the seccomp profile");
	*bj->filter = parts->filter;
	parts->filter = (struct bj_buf){ 0 };
	return 0;
}

int bj_engine_from_parts(struct bj_settings *settings_take, struct bj_engine_parts *parts_take,
			 struct bj_archive *archive, struct belljar **ret, struct bj_err *err)
{
	struct belljar *bj = calloc(1, sizeof(*bj));
	int r = 0;

	if (!bj) {
		bj_settings_free(settings_take);
		bj_engine_parts_done(parts_take);
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot open belljar");
	}
	bj->settings = settings_take;
	r = bj_backends_adopt(bj, parts_take, err);
	if (r == 0)
		r = take_filter(bj, parts_take, err);
	if (r == 0)
		r = bj_checker_new(bj->settings->user_rules, &bj->checker, err);
	bj_engine_parts_done(parts_take);
	bj->record = (struct bj_record){ .archive = archive,
					 .settings = bj->settings,
					 .checker = bj->checker };
	bj->borrows_archive = true;
	if (r < 0) {
		bj_close(bj);
		return r;
	}
	*ret = bj;
	return 0;
}

int bj_open(const char *config_file, struct belljar **ret_bj, struct bj_err *err)
{
	struct bj_settings *settings = NULL;
	const int r = bj_settings_load(config_file, NULL, 0, &settings, err);

	return r < 0 ? r : bj_engine_new(settings, ret_bj, err);
}

static void end(struct belljar *bj, bool wait)
{
	if (!bj)
		return;
	bj_backends_stop(bj, wait);
	if (!bj->borrows_archive)
		bj_archive_close(bj->record.archive);
	bj_checker_free(bj->checker);
	bj_settings_free(bj->settings);
	if (bj->filter)
		bj_buf_done(bj->filter);
	free(bj->filter);
	free(bj);
}

void bj_close(struct belljar *bj)
{
	end(bj, true);
}

void bj_engine_leave(struct belljar *bj)
{
	/* The first process of a container takes all others along when it ends. */
	end(bj, getpid() == 1);
}

void bj_spec_init(const struct belljar *bj, enum bj_language language, struct bj_spec *spec)
{
	*spec = (struct bj_spec){
		.language = language,
		.backend = bj->settings->backend,
		.policy = bj->settings->policy,
		.limits = bj->settings->limits,
		.stdin_fd = -1,
		.out_dir_fd = -1,
		.cancel_fd = -1,
		.seccomp = bj->filter ? bj->filter->data : NULL,
		.seccomp_size = bj->filter ? bj->filter->size : 0,
		.tenant = bj->settings->tenant,
	};
}

int bj_cleanup_all(struct belljar *bj, struct bj_err *err)
{
	return bj_engine_sweep(bj->settings, err);
}

/* What a front never does, nobody who takes it over can do. The leak sanitizer looks at its own
 * process with ptrace. */
static int load_filter(struct bj_err *err)
{
#ifdef __SANITIZE_ADDRESS__
	(void)err;
	return 0;
#else
	const int r = bj_filter_load(&bj_filter_front);

	return r < 0 ? bj_err_set(err, BJ_E_SYSTEM, -r, "cannot load the front's filter") : 0;
#endif
}

int bj_engine_drop_privileges(struct bj_err *err)
{
	/* An ordinary user may not empty the bounding set, which gives nothing from here on. */
	(void)bj_creds_drop_caps(NULL);

	const int r = bj_creds_no_new_privs(err);

	return r < 0 ? r : load_filter(err);
}

struct bj_result *bj_engine_failure(const struct belljar *bj, const char *message)
{
	struct bj_result *result = calloc(1, sizeof(*result));

	if (!result)
		return NULL;
	result->state = BJ_FINISHED;
	result->cause = BJ_CAUSE_INFRASTRUCTURE;
	result->exit_code = -1;
	result->cleanup_success = true;
	result->error = strdup(message);
	if (bj) {
		result->runtime = bj->settings->backend;
		result->policy = bj->settings->policy;
		result->asked = result->effective = bj->settings->limits;
	}
	return result;
}

struct bj_result *bj_engine_unbegun(const struct belljar *bj, const struct bj_spec *spec,
				    enum bj_cause cause, const char *message)
{
	struct bj_result *result = bj_engine_failure(bj, message);

	if (!result)
		return NULL;
	result->cause = cause;
	result->language = spec->language;
	memcpy(result->id, spec->id, sizeof(result->id));
	return result;
}
