/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "jar/probe.h"

/* The machine as the checks of a probe see it. Used by probe*.c only. */
struct bj_probe_view {
	const struct bj_probe_target *target;
	int root_fd;
	bool live; /* the running machine: things may be tried */
	bool root; /* belljar is going to run as root */
	char user[64];
};

/* Say what is there. */
void bj_probe_found(struct bj_probe_item *item, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The check failed: say what to do. */
void bj_probe_miss(struct bj_probe_item *item, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Open @path (relative) below the root; links stay inside. fd or -errno. */
int bj_probe_open(const struct bj_probe_view *view, const char *path, int flags);

/* Read the start of a small file without its last newline. False when it is not there. */
bool bj_probe_read(const struct bj_probe_view *view, const char *path, char *text, size_t size);

/* A number in a file; @missing when there is no such file. */
long bj_probe_number(const struct bj_probe_view *view, const char *path, long missing);

bool bj_probe_exists(const struct bj_probe_view *view, const char *path);

/* The running kernel is at least this one. */
bool bj_probe_kernel_at_least(const struct bj_probe_view *view, unsigned long major,
			      unsigned long minor);

/* Checks that stand in files of their own. */
void bj_probe_cgroup_controllers(const struct bj_probe_view *view, struct bj_probe_item *item);
void bj_probe_cgroup_delegation(const struct bj_probe_view *view, struct bj_probe_item *item);
void bj_probe_cgroup_kill(const struct bj_probe_view *view, struct bj_probe_item *item);

/* Things tried in a child; each is 0 or an errno. */
int bj_probe_try_namespaces(unsigned long flags);
int bj_probe_try_proc(void);
int bj_probe_try_mount_api(void);
int bj_probe_try_copies(void);

/* Where the jars' cgroups can be made. */
enum bj_probe_place {
	BJ_PROBE_PLACE_NONE,
	BJ_PROBE_PLACE_UNFIT, /* in a scope of the user's systemd, which lacks a controller */
	BJ_PROBE_PLACE_SCOPE, /* in such a scope */
	BJ_PROBE_PLACE_OWN,   /* below the own cgroup, or the one of the settings */
};

/* Make them, as the launcher would, in a child, and remove them. */
enum bj_probe_place bj_probe_try_cgroups(const char *parent);

/* The first line of what @path says to --version. False when it cannot be run. */
bool bj_probe_try_version(const char *path, char *line, size_t size);
