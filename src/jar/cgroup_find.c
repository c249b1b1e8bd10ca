/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/cgroup_find.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const CONTROLLERS[BJ_HIER_UNIFIED] = {
	[BJ_HIER_MEMORY] = "memory",
	[BJ_HIER_PIDS] = "pids",
	[BJ_HIER_CPU] = "cpu",
	[BJ_HIER_CPUACCT] = "cpuacct",
};

/* Where each mount's root lies in its hierarchy: "/" but in containers. */
struct roots {
	char of[BJ_HIER_COUNT][512];
};

/* Whether the comma-separated @list holds @word. */
static bool list_has(const char *list, const char *word)
{
	const size_t len = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += len)
		if ((p == list || p[-1] == ',') && (p[len] == ',' || p[len] == '\0'))
			return true;
	return false;
}

static void note_mount(struct bj_cgroup_place *place, struct roots *roots, enum bj_hier h,
		       const char *root, const char *mount)
{
	if (place->mount[h][0])
		return;
	snprintf(place->mount[h], sizeof(place->mount[h]), "%s", mount);
	snprintf(roots->of[h], sizeof(roots->of[h]), "%s", root);
}

/* One line of mountinfo: id parent dev root mount options... - type source super-options */
static void read_mount(char *line, struct bj_cgroup_place *place, struct roots *roots)
{
	char root[512], mount[256], type[32], options[512];
	char *tail = strstr(line, " - ");

	/* Most lines are of other mounts: sscanf() takes longer than the kernel to write them. */
	if (!tail || strncmp(tail, " - cgroup", 9) != 0 ||
	    sscanf(line, "%*s %*s %*s %511s %255s", root, mount) != 2 || root[0] != '/' ||
	    mount[0] != '/' || sscanf(tail, " - %31s %*s %511s", type, options) != 2)
		return;
	if (strcmp(type, "cgroup2") == 0)
		note_mount(place, roots, BJ_HIER_UNIFIED, root, mount);
	if (strcmp(type, "cgroup") != 0)
		return;
	for (int h = 0; h < BJ_HIER_UNIFIED; h++)
		if (list_has(options, CONTROLLERS[h]))
			note_mount(place, roots, (enum bj_hier)h, root, mount);
}

static void set_path(struct bj_cgroup_place *place, const struct roots *roots, enum bj_hier h,
		     const char *own)
{
	const char *root = roots->of[h];
	const size_t len = strlen(root);

	if (!place->mount[h][0])
		return;
	/* Seen through a bind of a part of the hierarchy: our place is relative to that part. */
	if (len > 1 && strncmp(own, root, len) == 0 && (own[len] == '/' || own[len] == '\0'))
		own += len;

	char path[sizeof(place->path[h])];
	const int n = snprintf(path, sizeof(path), "%s%s", place->mount[h], own);

	if (n > 0 && (size_t)n < sizeof(path))
		memcpy(place->path[h], path, (size_t)n + 1);
}

/* One line of /proc/self/cgroup: number:controllers:path */
static void read_own(char *line, struct bj_cgroup_place *place, const struct roots *roots)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	controllers++;
	if (controllers[0] == '\0')
		set_path(place, roots, BJ_HIER_UNIFIED, path);
	for (int h = 0; h < BJ_HIER_UNIFIED; h++)
		if (list_has(controllers, CONTROLLERS[h]))
			set_path(place, roots, (enum bj_hier)h, path);
}

int bj_cgroup_find(const char *proc, struct bj_cgroup_place *ret, struct bj_err *err)
{
	char line[2048], path[300];
	struct bj_cgroup_place place = { 0 };
	struct roots roots = { 0 };

	snprintf(path, sizeof(path), "%s/self/mountinfo", proc);
	AUTO_FILE FILE *mounts = fopen(path, "re");
	if (!mounts)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read %s; is /proc mounted?",
				  path);
	while (fgets(line, sizeof(line), mounts))
		read_mount(line, &place, &roots);

	snprintf(path, sizeof(path), "%s/self/cgroup", proc);
	AUTO_FILE FILE *own = fopen(path, "re");
	if (!own)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot read %s", path);
	while (fgets(line, sizeof(line), own))
		read_own(line, &place, &roots);
	*ret = place;
	return 0;
}
