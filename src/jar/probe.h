/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

#include <sys/types.h>

/* What this machine gives to a jar, layer by layer, with the fix for what is missing. It changes
 * nothing: files are read, and namespaces are tried in children that end at once. */

/* What a check is needed for. */
enum bj_probe_need {
	BJ_PROBE_NOTE,  /* worth knowing, nothing fails without it */
	BJ_PROBE_FULL,  /* `require: full` does not hold without it */
	BJ_PROBE_BASIC, /* nothing runs without it */
};

struct bj_probe_item {
	const char *name;
	enum bj_probe_need need;
	bool ok;
	char found[160]; /* what is there */
	char fix[280];   /* what to do; "" when ok */
};

enum { BJ_PROBE_MAX = 32 };

struct bj_probe {
	struct bj_probe_item items[BJ_PROBE_MAX];
	size_t n;
	bool full, basic; /* `require: full` and `require: basic` would hold */
};

struct bj_probe_target {
	const char *root;          /* "/", or another root whose files are read: nothing is tried */
	uid_t uid;                 /* who is going to run belljar */
	const char *python, *bash; /* interpreters, as paths below the root */
	const char *cgroup;        /* parent of the jars' cgroups; NULL: belljar finds one */
};

/* Look at @target and fill *@ret. Fails only when the root cannot be opened. */
int bj_probe_run(const struct bj_probe_target *target, struct bj_probe *ret, struct bj_err *err);
