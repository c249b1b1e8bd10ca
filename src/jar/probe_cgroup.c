/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "jar/cgroup_find.h"
#include "jar/probe_view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 1024 };

/* The user's systemd can pass on only what it has got itself. */
#define DROP_IN "/etc/systemd/system/user@.service.d"
#define DELEGATE_FIX                                                                               \
	"as root: mkdir -p " DROP_IN                                                               \
	"; printf '[Service]\\nDelegate=cpu memory pids\\n' > " DROP_IN                            \
	"/delegate.conf; systemctl daemon-reload; log in again"

static const char *const NEEDED[] = { "memory", "pids", "cpu" };

static bool find_place(const struct bj_probe_view *view, struct bj_cgroup_place *ret)
{
	char proc[PATH_SIZE];

	snprintf(proc, sizeof(proc), "%s/proc", view->live ? "" : view->target->root);
	return bj_cgroup_find(proc, ret, NULL) == 0;
}

/* Whether the space-separated @list holds @word. */
static bool has_word(const char *list, const char *word)
{
	const size_t len = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += len)
		if ((p == list || p[-1] == ' ') && (p[len] == ' ' || p[len] == '\0'))
			return true;
	return false;
}

/* The controllers that the caller's own v2 cgroup offers; "" when there is none. */
static void read_v2(const struct bj_probe_view *view, const struct bj_cgroup_place *place,
		    char *list, size_t size)
{
	char path[PATH_SIZE];

	list[0] = '\0';
	snprintf(path, sizeof(path), "%s/cgroup.controllers", place->path[BJ_HIER_UNIFIED]);
	if (place->path[BJ_HIER_UNIFIED][0])
		bj_probe_read(view, path + 1, list, size);
}

static bool v2_is_whole(const char *controllers)
{
	for (size_t i = 0; i < BJ_ARRAY_SIZE(NEEDED); i++)
		if (!has_word(controllers, NEEDED[i]))
			return false;
	return true;
}

static bool v1_is_whole(const struct bj_cgroup_place *place)
{
	return place->path[BJ_HIER_MEMORY][0] && place->path[BJ_HIER_PIDS][0] &&
	       place->path[BJ_HIER_CPU][0];
}

static bool systemd_runs(const struct bj_probe_view *view)
{
	return bj_probe_exists(view, "run/systemd/system");
}

void bj_probe_cgroup_controllers(const struct bj_probe_view *view, struct bj_probe_item *item)
{
	struct bj_cgroup_place place = { 0 };
	char list[256];

	if (!find_place(view, &place)) {
		bj_probe_found(item, "/proc cannot be read");
		bj_probe_miss(item, "mount /proc: mount -t proc proc /proc");
		return;
	}
	read_v2(view, &place, list, sizeof(list));
	if (v2_is_whole(list)) {
		bj_probe_found(item, "v2: %.120s", list);
		return;
	}
	if (v1_is_whole(&place)) {
		bj_probe_found(item, "v1: memory pids cpu");
		return;
	}
	/* What is missing in the own cgroup may be there where the jars go. */
	if (view->live && bj_probe_try_cgroups(view->target->cgroup) >= BJ_PROBE_PLACE_SCOPE) {
		bj_probe_found(item, "v2: memory pids cpu");
		return;
	}
	if (place.path[BJ_HIER_UNIFIED][0]) {
		bj_probe_found(item, "v2 offers only: %.100s", list[0] ? list : "nothing");
		bj_probe_miss(item, systemd_runs(view) ? DELEGATE_FIX
						       : "as root: write '+memory +pids +cpu' to "
							 "cgroup.subtree_control of every parent");
		return;
	}
	bj_probe_found(item, "no cgroups are mounted");
	bj_probe_miss(item,
		      "mount them: mount -t cgroup2 none /sys/fs/cgroup; in a container start "
		      "it with its cgroup (docker run --cgroupns=private)");
}

/* Whether @uid may make directories in @path. Another root is judged by its modes: whoever reads
 * it may be someone else. */
static bool may_write(const struct bj_probe_view *view, const char *path)
{
	AUTO_FD int fd = bj_probe_open(view, path + 1, O_PATH | O_DIRECTORY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	if (view->live)
		return access(path, W_OK) == 0;
	return view->root || (st.st_uid == view->target->uid && st.st_mode & S_IWUSR) ||
	       st.st_mode & S_IWOTH;
}

/* The first hierarchy that a jar needs and this user cannot divide; BJ_HIER_COUNT: all are fine. */
static enum bj_hier find_locked(const struct bj_probe_view *view,
				const struct bj_cgroup_place *place, enum bj_hier *ret_used)
{
	static const enum bj_hier V1[] = { BJ_HIER_MEMORY, BJ_HIER_PIDS, BJ_HIER_CPU };
	char list[256];

	read_v2(view, place, list, sizeof(list));
	if (v2_is_whole(list)) {
		*ret_used = BJ_HIER_UNIFIED;
		return may_write(view, place->path[BJ_HIER_UNIFIED]) ? BJ_HIER_COUNT
								     : BJ_HIER_UNIFIED;
	}
	*ret_used = BJ_HIER_MEMORY;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(V1); i++)
		if (!place->path[V1[i]][0] || !may_write(view, place->path[V1[i]]))
			return V1[i];
	return BJ_HIER_COUNT;
}

static void miss_delegation(const struct bj_probe_view *view, enum bj_hier used,
			    enum bj_probe_place place, struct bj_probe_item *item)
{
	if (view->root)
		bj_probe_miss(item, "mount the cgroups writable; in a container: docker run "
				    "--cgroupns=private -v /sys/fs/cgroup:/sys/fs/cgroup:rw");
	else if (place == BJ_PROBE_PLACE_UNFIT)
		bj_probe_miss(item, DELEGATE_FIX);
	else if (systemd_runs(view) && !view->target->cgroup)
		bj_probe_miss(item,
			      "let belljar reach the user's systemd: as root: apt-get install "
			      "libsystemd0 dbus-user-session libpam-systemd; loginctl "
			      "enable-linger %s; log in again; or accept less: native.require: "
			      "basic",
			      view->user);
	else if (used != BJ_HIER_UNIFIED)
		bj_probe_miss(item,
			      "as root: for h in memory pids cpu; do d=/sys/fs/cgroup/$h/agents; "
			      "mkdir $d; "
			      "chown -R %s $d; echo PID-OF-THE-SHELL > $d/cgroup.procs; done (see "
			      "docs/rootless.md); or accept less: native.require: basic",
			      view->user);
	else
		bj_probe_miss(item,
			      "as root: make a cgroup and a leaf in it, chown both to %s, move "
			      "belljar's shell to the leaf, name the cgroup in native.cgroup (see "
			      "docs/rootless.md); or accept less: native.require: basic",
			      view->user);
}

void bj_probe_cgroup_delegation(const struct bj_probe_view *view, struct bj_probe_item *item)
{
	struct bj_cgroup_place own = { 0 };
	enum bj_hier used = BJ_HIER_MEMORY;

	find_place(view, &own);

	const enum bj_hier locked = find_locked(view, &own, &used);
	const char *named = view->target->cgroup;
	enum bj_probe_place place =
		locked == BJ_HIER_COUNT ? BJ_PROBE_PLACE_OWN : BJ_PROBE_PLACE_NONE;

	if (view->live)
		place = bj_probe_try_cgroups(named);
	if (place == BJ_PROBE_PLACE_OWN) {
		bj_probe_found(item, "%.120s may be divided", named ? named : own.path[used]);
		return;
	}
	if (place == BJ_PROBE_PLACE_SCOPE) {
		bj_probe_found(item, "the user's systemd gives belljar a scope");
		return;
	}
	if (named)
		bj_probe_found(item, "native.cgroup %.100s cannot be divided", named);
	else if (locked == BJ_HIER_COUNT)
		bj_probe_found(item, "%.100s holds other processes", own.path[used]);
	else
		bj_probe_found(item, "%.100s belongs to someone else",
			       own.path[locked][0] ? own.path[locked] : "the own cgroup");
	miss_delegation(view, used, place, item);
}

void bj_probe_cgroup_kill(const struct bj_probe_view *view, struct bj_probe_item *item)
{
	struct bj_cgroup_place place = { 0 };

	if (find_place(view, &place) && place.mount[BJ_HIER_UNIFIED][0] &&
	    bj_probe_kernel_at_least(view, 5, 14)) {
		bj_probe_found(item, "cgroup.kill");
		return;
	}
	bj_probe_found(item, "no cgroup.kill: jars end with their pid namespace only");
	bj_probe_miss(item, "mount the unified hierarchy on Linux 5.14 or later: mount -t cgroup2 "
			    "none /sys/fs/cgroup/unified");
}
