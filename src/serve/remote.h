/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/settings.h"
#include "serve/client.h"

/* A run by the service instead of by this process: the same spec in, the same result out. */

/* Whether the service can do what @settings ask: all that differs from the defaults must be
 * something that a request can say. The images of @settings are pinned. */
bool bj_remote_fits(const struct bj_settings *settings);

/* As bj_run(). Output goes to spec->on_event as it comes, spec->cancel_fd cancels. Of the result
 * only what a person is told is filled; *@ret_line is the whole as JSON. Both belong to the
 * caller. 1: the service does not take this run, and nothing was done. */
int bj_remote_run(struct bj_client *client, const struct bj_spec *spec,
		  const struct bj_settings *settings, struct bj_result **ret_result,
		  char **ret_line, struct bj_err *err);
