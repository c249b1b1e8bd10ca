/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/cgroup.h"
#include "warm/spawn.h"

/* A Python interpreter that was started ahead of time and forks itself into jars. It runs in the
 * launcher's namespaces with the launcher's rights there, sees only the jars' template, and never
 * runs foreign code. */
struct bj_zygote {
	pid_t pid; /* 0: none */
	int pidfd; /* readable when it is dead */
	int sock;
	bool ready; /* it has said so */
	unsigned int spawned;
};

/* Start one from @python of the template @image, with @modules (NULL-terminated; NULL: none)
 * imported. With @needed it says that it is not needed, and ends, when none of them is there. It is
 * ready when it says so on its socket; requests may be sent before. */
int bj_zygote_start(struct bj_zygote *z, uint32_t image, const char *python,
		    const char *const *modules, bool needed, struct bj_err *err);

/* What came of a request: two descriptors for bj_jar_fill_warm(). */
struct bj_zygote_slot {
	int pid_fd, slot_fd;
};

/* Ask for a process in the jar of @init_pidfd and @cgroup (NULL: none), as @ask says; which of
 * the cgroup's descriptors go along is filled in here. */
int bj_zygote_spawn(struct bj_zygote *z, int init_pidfd, const struct bj_cgroup *cgroup,
		    const struct bj_spawn *ask, struct bj_zygote_slot *ret, struct bj_err *err);

/* Kill it and wait for it. Its slots live on. */
void bj_zygote_stop(struct bj_zygote *z);
