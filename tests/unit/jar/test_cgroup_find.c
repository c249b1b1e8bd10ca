/* SPDX-License-Identifier: Apache-2.0 */

/* SCRP-04: where the limits can be written, told from the kernel's own tables: fixtures of a v1, a
 * hybrid and a v2 machine, of a container that sees a part, and of rubbish. */

#include "unit.h"

#include "base/cleanup.h"
#include "jar/cgroup_find.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static char top[] = "/tmp/bj-find-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/self/%s", top, name);
	AUTO_FILE FILE *f = fopen(path, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
}

static struct bj_cgroup_place find(const char *mountinfo, const char *cgroup)
{
	struct bj_cgroup_place place;

	write_file("mountinfo", mountinfo);
	write_file("cgroup", cgroup);
	assert_int_equal(bj_cgroup_find(top, &place, NULL), 0);
	return place;
}

#define ROOT_MOUNT "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
#define V1_MOUNTS                                                                                  \
	"31 21 0:27 / /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n"        \
	"32 21 0:28 / /sys/fs/cgroup/pids rw,nosuid - cgroup cgroup rw,pids\n"                     \
	"33 21 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"              \
	"34 21 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"                        \
	"35 21 0:31 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
#define V1_OWN                                                                                     \
	"9:memory:/user.slice\n8:pids:/user.slice/a:b\n4:cpu,cpuacct:/\n3:cpuset:/x\n"             \
	"1:name=systemd:/init.scope\n"

static void v1(void **state)
{
	const struct bj_cgroup_place p = find(ROOT_MOUNT V1_MOUNTS, V1_OWN);

	(void)state;
	assert_string_equal(p.path[BJ_HIER_MEMORY], "/sys/fs/cgroup/memory/user.slice");
	assert_string_equal(p.path[BJ_HIER_PIDS], "/sys/fs/cgroup/pids/user.slice/a:b");
	assert_string_equal(p.path[BJ_HIER_CPU], "/sys/fs/cgroup/cpu,cpuacct/");
	assert_string_equal(p.mount[BJ_HIER_CPUACCT], "/sys/fs/cgroup/cpu,cpuacct");
	assert_string_equal(p.mount[BJ_HIER_UNIFIED], "");
	assert_string_equal(p.path[BJ_HIER_UNIFIED], "");
}

static void hybrid(void **state)
{
	const struct bj_cgroup_place p = find(
		ROOT_MOUNT V1_MOUNTS
		"36 21 0:32 / /sys/fs/cgroup/unified rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
		V1_OWN "0::/init.scope\n");

	(void)state;
	assert_string_equal(p.path[BJ_HIER_UNIFIED], "/sys/fs/cgroup/unified/init.scope");
	assert_string_equal(p.path[BJ_HIER_MEMORY], "/sys/fs/cgroup/memory/user.slice");
}

static void v2(void **state)
{
	const struct bj_cgroup_place p =
		find(ROOT_MOUNT "30 21 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n",
		     "0::/user.slice/user-1000.slice/session-1.scope\n");

	(void)state;
	assert_string_equal(p.mount[BJ_HIER_UNIFIED], "/sys/fs/cgroup");
	assert_string_equal(p.path[BJ_HIER_UNIFIED],
			    "/sys/fs/cgroup/user.slice/user-1000.slice/session-1.scope");
	assert_string_equal(p.mount[BJ_HIER_MEMORY], "");
}

/* A container without a cgroup namespace sees a part of the hierarchy, but is told its place in the
 * whole of it. */
static void rooted_mounts(void **state)
{
	const char *mounts = ROOT_MOUNT
		"31 21 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
		"32 21 0:28 /docker/abc /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n";
	struct bj_cgroup_place p = find(mounts, "9:memory:/docker/abc\n8:pids:/docker/abc/sub\n");

	(void)state;
	assert_string_equal(p.path[BJ_HIER_MEMORY], "/sys/fs/cgroup/memory");
	assert_string_equal(p.path[BJ_HIER_PIDS], "/sys/fs/cgroup/pids/sub");

	/* A sibling whose name starts alike is not below it. */
	p = find(mounts, "9:memory:/docker/abcdef/sub\n");
	assert_string_equal(p.path[BJ_HIER_MEMORY], "/sys/fs/cgroup/memory/docker/abcdef/sub");
}

/* With a second mount of the same hierarchy the first one counts. */
static void the_first_mount_counts(void **state)
{
	const struct bj_cgroup_place p =
		find("30 21 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		     "40 21 0:26 / /mnt/again rw - cgroup2 cgroup2 rw\n",
		     "0::/x\n");

	(void)state;
	assert_string_equal(p.path[BJ_HIER_UNIFIED], "/sys/fs/cgroup/x");
}

static void rubbish_finds_nothing(void **state)
{
	static const char *const lines[] = {
		"",
		"\n\n\n",
		" - \n",
		" - cgroup2\n",
		"1 2 3 - cgroup2 x rw\n",
		"- - - - - - - cgroup2 cgroup2\n",
		"31 21 0:27 / /sys/memory rw - cgroup cgroup rw,memoryx,xmemory\n",
		"31 21 0:27 / /sys/memory rw - cgroup cgroup rw,mem\n",
		"31 21 0:27 / /sys/memory rw - tmpfs cgroup rw,memory\n",
	};
	char long_line[5000];

	(void)state;
	memset(long_line, 'x', sizeof(long_line) - 1);
	long_line[sizeof(long_line) - 1] = '\0';
	for (size_t i = 0; i <= BJ_ARRAY_SIZE(lines); i++) {
		const char *mounts = i < BJ_ARRAY_SIZE(lines) ? lines[i] : long_line;
		const struct bj_cgroup_place p =
			find(mounts, "9:memory:/a\n0::/b\nno colons\n1:one\n::::\n:\n");

		for (int h = 0; h < BJ_HIER_COUNT; h++) {
			assert_string_equal(p.mount[h], "");
			assert_string_equal(p.path[h], "");
		}
	}
}

/* A path that is too long is none: cut short it would name another directory. */
static void a_long_path_is_none(void **state)
{
	char own[900];

	(void)state;
	memset(own, 'a', sizeof(own));
	memcpy(own, "0::/", 4);
	own[sizeof(own) - 1] = '\0';

	const struct bj_cgroup_place p = find("30 21 0:26 / /cg rw - cgroup2 cgroup2 rw\n", own);

	assert_string_equal(p.mount[BJ_HIER_UNIFIED], "/cg");
	assert_string_equal(p.path[BJ_HIER_UNIFIED], "");
}

static void no_proc_is_one_sentence(void **state)
{
	struct bj_cgroup_place place;
	struct bj_err err = { 0 };

	(void)state;
	assert_int_equal(bj_cgroup_find("/nonexistent", &place, &err), -BJ_E_SYSTEM);
	assert_non_null(strstr(err.msg, "is /proc mounted?"));
}

static int set_up(void **state)
{
	char path[64];

	(void)state;
	if (!mkdtemp(top))
		return -1;
	snprintf(path, sizeof(path), "%s/self", top);
	return mkdir(path, 0700);
}

static int tear_down(void **state)
{
	static const char *const names[] = { "self/mountinfo", "self/cgroup", "self", "." };
	char path[64];

	(void)state;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, names[i]);
		remove(i == BJ_ARRAY_SIZE(names) - 1 ? top : path);
	}
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(v1),
		cmocka_unit_test(hybrid),
		cmocka_unit_test(v2),
		cmocka_unit_test(rooted_mounts),
		cmocka_unit_test(the_first_mount_counts),
		cmocka_unit_test(rubbish_finds_nothing),
		cmocka_unit_test(a_long_path_is_none),
		cmocka_unit_test(no_proc_is_one_sentence),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
