/* SPDX-License-Identifier: Apache-2.0 */
#include "in_namespaces.h"

#include "launch/launcher.h"

#include <errno.h>
#include <signal.h>
#include <sys/mount.h>

/* As many as a launcher with a few hundred jars has. */
enum { CHILDREN = 1500 };

static pid_t bear(bool ends)
{
	const pid_t pid = fork();

	if (pid == 0 && ends)
		_exit(0);
	while (pid == 0)
		pause();
	return pid;
}

static int reap_behind_many(void)
{
	static struct launcher l;
	siginfo_t info;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) < 0)
		return NO_NAMESPACES;
	for (int i = 0; i < CHILDREN; i++)
		if (bear(false) < 0)
			return 1;

	const pid_t stray = bear(true);

	if (stray < 0 || waitid(P_PID, (id_t)stray, &info, WEXITED | WNOWAIT) < 0)
		return 2;
	zygote_reap_strays(&l);
	if (waitpid(stray, NULL, WNOHANG) != -1 || errno != ECHILD)
		return 3;
	/* The others live: somebody must come back. */
	return l.strays_at > 0 ? GOOD : 4;
}

/* The jar of a stray cannot end before it is waited for. */
static void strays_are_found_behind_many(void **state)
{
	(void)state;
	run_in_namespaces(0, reap_behind_many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strays_are_found_behind_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
