/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "backend/backend.h"
#include "engine/engine.h"

/* The backends of a handle: which processes they need, and which one a run gets. */

/* Start what the settings can call for: the chosen backend and those it falls back to. */
enum bj_backends_use {
	BJ_USE_LATER, /* nobody knows when a run comes */
	BJ_USE_SOON,  /* one comes at once, and no other */
	BJ_USE_MUCH,  /* a service: keep interpreters waiting */
};
int bj_backends_start_native(const struct bj_settings *settings, enum bj_backends_use use,
			     struct bj_process **ret, struct bj_err *err);
int bj_backends_start(struct belljar *bj, struct bj_err *err);

/* Pin the images that native jars of @settings would show, if they can be called for. */
int bj_backends_pin(struct bj_settings *settings, struct bj_err *err);

/* Watch their names, as bj_pin_watch() does; -1: they cannot be called for. */
int bj_backends_watch(const struct bj_settings *settings);

/* End them; @wait until they have cleaned up. */
void bj_backends_stop(struct belljar *bj, bool wait);

/* Move the processes of @bj into @parts, and the other way. */
void bj_backends_release(struct belljar *bj, struct bj_engine_parts *parts);
int bj_backends_adopt(struct belljar *bj, struct bj_engine_parts *parts, struct bj_err *err);

/* Run @spec in the backend @id; fails as struct bj_backend says. */
int bj_backends_run(struct belljar *bj, enum bj_backend_id id, const struct bj_spec *spec,
		    struct bj_result *result, struct bj_verdict *ret_verdict, struct bj_err *err);

/* What to try after @tried (the backend of the spec at first) failed with @err before the script
 * ran: true with *@ret_next, or false when that is the end. */
bool bj_backends_next(const struct belljar *bj, enum bj_backend_id first, enum bj_backend_id tried,
		      const struct bj_err *err, enum bj_backend_id *ret_next);
