/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* A user's seccomp profile in the form that an engine takes, made so that it can only tighten:
 * what the floor forbids stays forbidden, whatever @custom allows. @custom, @ours and @floor are
 * profiles in Docker's JSON format. The caller frees the text; NULL with @err when @custom is no
 * profile. Pure. */
char *bj_docker_profile(const char *custom, const char *ours, const char *floor,
			struct bj_err *err);
