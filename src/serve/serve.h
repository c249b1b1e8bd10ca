/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/settings.h"

/* The service, in the foreground, until it is told to stop: SIGTERM and SIGINT end it, SIGHUP
 * reads the settings again. 0 after a clean stop, else negative with @err. */
int bj_serve(const char *config_file, const struct bj_override *overrides, size_t n_overrides,
	     struct bj_err *err);
