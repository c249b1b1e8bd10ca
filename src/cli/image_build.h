/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/settings.h"

/* Making images from packages of the distribution: `belljar image build`. */

struct bj_build {
	bool docker;        /* for the engine; else for the native jar */
	bool wanted[2];     /* by enum bj_language, for the engine */
	const char *name;   /* of the native image; NULL: the usual one */
	const char *with;   /* Python modules, separated by commas; NULL: none */
	const char *suite;  /* NULL: the usual one */
	const char *mirror; /* NULL: the machine's own */
};

int bj_build_images(const struct bj_build *build, const struct bj_settings *settings,
		    struct bj_err *err);

/* A file without a name for an archive, where there is room. -1 with errno. */
int bj_build_spool(void);
