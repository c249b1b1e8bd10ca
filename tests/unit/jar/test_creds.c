/* SPDX-License-Identifier: Apache-2.0 */

/* SCRP-05, DS-SEC: who a process is afterwards. Each case runs in a child of its own. */

#include "unit.h"

#include "base/cleanup.h"
#include "jar/creds.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The value of @key in /proc/self/status. */
static void read_status(const char *key, char *value, size_t size)
{
	char line[256];
	AUTO_FILE FILE *f = fopen("/proc/self/status", "re");

	value[0] = '\0';
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0) {
			const char *text = line + strlen(key) + 1;

			text += strspn(text, " \t");
			snprintf(value, size, "%.*s", (int)strcspn(text, "\n"), text);
		}
}

static uint64_t caps(const char *key)
{
	char value[32];

	read_status(key, value, sizeof(value));
	return strtoull(value, NULL, 16);
}

static void in_a_child(int (*what)(void))
{
	int status = -1;
	const pid_t pid = fork();

	if (pid == 0)
		_exit(what());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int drop_all(void)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb" };
	struct bj_err err = { 0 };

	if (bj_creds_drop_caps(&err) < 0)
		return 1;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(sets); i++)
		if (caps(sets[i]) != 0)
			return 2;
	return setgid(1) == 0 ? 3 : 0;
}

static int keep_one(void)
{
	const uint64_t kill_only = UINT64_C(1) << CAP_KILL;

	if (bj_creds_keep_caps(kill_only, NULL) < 0)
		return 1;
	return caps("CapPrm") != kill_only || caps("CapEff") != kill_only ||
	       caps("CapBnd") != kill_only || caps("CapInh") != 0 || caps("CapAmb") != 0;
}

/* As in a container: some are missing, one of them what tells a whole set. */
static int drop_the_rest(void)
{
	if (prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) < 0 ||
	    prctl(PR_CAPBSET_DROP, CAP_CHOWN, 0, 0, 0) < 0 || bj_creds_drop_caps(NULL) < 0)
		return 1;
	if (caps("CapBnd") != 0)
		return 2;
	/* Nothing is left to drop, nor the right to. */
	return bj_creds_drop_caps(NULL) < 0 ? 3 : 0;
}

/* An exec gives uid 0 everything that the bounding set has, which is full here. */
static int end_root(void)
{
	static const char none[] = "grep -q 'CapPrm:\t0*$' /proc/self/status && "
				   "grep -q 'CapEff:\t0*$' /proc/self/status && "
				   "! grep -q 'CapBnd:\t0*$' /proc/self/status";

	if (bj_creds_end_root(NULL) < 0 || geteuid() != 0)
		return 1;
	if (caps("CapPrm") != 0 || caps("CapEff") != 0 || caps("CapInh") != 0 ||
	    caps("CapAmb") != 0)
		return 2;
	if (prctl(PR_SET_SECUREBITS, 0, 0, 0, 0) == 0)
		return 3;
	execl("/bin/sh", "sh", "-c", none, (char *)NULL);
	return 4;
}

static int become_nobody(void)
{
	static const gid_t some[] = { 5, 6 };
	struct bj_err err = { 0 };
	char value[64];

	if (setgroups(2, some) < 0 || bj_creds_become(65534, 65534, &err) < 0)
		return 1;
	read_status("Uid", value, sizeof(value));
	if (strcmp(value, "65534\t65534\t65534\t65534") != 0)
		return 2;
	read_status("Gid", value, sizeof(value));
	if (strcmp(value, "65534\t65534\t65534\t65534") != 0)
		return 3;
	if (getgroups(0, NULL) != 0)
		return 4;
	return setuid(0) == 0 ? 5 : 0; /* for good */
}

static int nobody_cannot_become_another(void)
{
	struct bj_err err = { 0 };

	if (bj_creds_become(65534, 65534, NULL) < 0)
		return 1;
	return bj_creds_become(1, 1, &err) != -BJ_E_SYSTEM || err.errnum != EPERM;
}

/* Root of a container, or a user who was given one capability: the rest goes nevertheless. */
static int own_caps_without_the_right(void)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff", "CapAmb" };
	const uint64_t net_raw = UINT64_C(1) << CAP_NET_RAW;
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct data[2] = {
		{ .effective = net_raw, .permitted = net_raw, .inheritable = net_raw }
	};
	struct bj_err err = { 0 };

	if (syscall(SYS_capset, &head, data) < 0 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_RAW, 0, 0) < 0)
		return 1;
	if (bj_creds_drop_caps(&err) != -BJ_E_SYSTEM || err.errnum != EPERM)
		return 2;
	for (size_t i = 0; i < BJ_ARRAY_SIZE(sets); i++)
		if (caps(sets[i]) != 0)
			return 3;
	return 0;
}

/* Without CAP_SETPCAP the bounding set stays: that is an error, not a shrug. */
static int dropping_without_the_right(void)
{
	struct bj_err err = { 0 };

	if (bj_creds_become(65534, 65534, NULL) < 0)
		return 1;
	return bj_creds_drop_caps(&err) != -BJ_E_SYSTEM || err.errnum != EPERM;
}

static int no_new_privs(void)
{
	return bj_creds_no_new_privs(NULL) < 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

static void dropped_caps_are_gone_from_every_set(void **state)
{
	(void)state;
	in_a_child(drop_all);
	in_a_child(drop_the_rest);
}

static void kept_caps_are_the_only_ones(void **state)
{
	(void)state;
	in_a_child(keep_one);
}

static void uid_0_has_no_rights_of_its_own(void **state)
{
	(void)state;
	in_a_child(end_root);
}

static void nobody_is_nobody_for_good(void **state)
{
	(void)state;
	in_a_child(become_nobody);
	in_a_child(nobody_cannot_become_another);
}

static void a_set_that_stays_is_an_error(void **state)
{
	(void)state;
	in_a_child(dropping_without_the_right);
	in_a_child(own_caps_without_the_right);
}

static void no_new_privs_is_set(void **state)
{
	(void)state;
	in_a_child(no_new_privs);
}

int main(void)
{
	const struct CMUnitTest as_root[] = {
		cmocka_unit_test(dropped_caps_are_gone_from_every_set),
		cmocka_unit_test(kept_caps_are_the_only_ones),
		cmocka_unit_test(uid_0_has_no_rights_of_its_own),
		cmocka_unit_test(nobody_is_nobody_for_good),
		cmocka_unit_test(a_set_that_stays_is_an_error),
	};
	const struct CMUnitTest tests[] = { cmocka_unit_test(no_new_privs_is_set) };

	/* Only root has something to give up; CI is root. */
	if (geteuid() != 0)
		return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 77;
	return cmocka_run_group_tests(as_root, NULL, NULL) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
