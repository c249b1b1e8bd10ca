/* SPDX-License-Identifier: Apache-2.0 */

/* A Bash that waits for its script, fully started.
 *
 * This library is loaded ahead of all others into the image's own Bash, started as for a cold run:
 * `bash /script/script.sh`, sealed, with nothing but a socket. Bash does all that it does at its
 * start, then opens its script: that call comes here, and waits. With the script come its streams.
 * A forked copy of the same Bash, told only to read, checks the syntax; then the script is opened
 * and Bash goes on, with no trace of us but mapped memory. So names, numbers and states are those
 * of a cold run, because it is one.
 *
 * It needs three variables of Bash, which every Bash exports for its loadable builtins. Without
 * them nothing waits here, and the launcher starts its scripts from nothing. */

#include "base/cleanup.h"
#include "base/fd.h"
#include "jar/complaint.h"
#include "jar/mounts.h"
#include "jar/rlimits.h"
#include "jar/script.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#define SCRIPT BJ_JAR_SCRIPT "/" BJ_SCRIPT_BASH

enum { FD_SLOT = 3 };

static bool waited;

/* The name is given in assembler: the headers have an `open` of their own. */
__attribute__((visibility("default"))) int wait_open(const char *path, int flags,
						     ...) __asm__("open");

/* Before Bash reads its environment: take us out of it. */
__attribute__((constructor)) static void hide(void)
{
	char **to = environ;

	for (char **from = environ; *from; from++) {
		if (strncmp(*from, "LD_PRELOAD=", 11) == 0)
			memset(*from, 0, strlen(*from));
		else
			*to++ = *from;
	}
	*to = NULL;
}

/* Its waiting time does not count, and its random numbers are its own. */
static bool make_fresh(void)
{
	struct timeval *start = dlsym(RTLD_DEFAULT, "shellstart");
	time_t *seconds = dlsym(RTLD_DEFAULT, "shell_start_time");
	void (*seed)(void) = NULL;

	*(void **)&seed = dlsym(RTLD_DEFAULT, "seedrand");
	if (!start || !seconds || !seed)
		return false;
	gettimeofday(start, NULL);
	*seconds = start->tv_sec;
	seed();
	return true;
}

/* In a forked copy: read the script and execute nothing. True: go on and read. */
static bool become_reader(int complaints, int verdict, bool extglob)
{
	int *only_read = dlsym(RTLD_DEFAULT, "read_but_dont_execute");

	close(verdict);
	if (dup2(complaints, 2) < 0 || !only_read)
		_exit(126);
	if (extglob) {
		execl("/proc/self/exe", "bash", "-n", "-O", "extglob", SCRIPT, (char *)NULL);
		_exit(126);
	}
	*only_read = 1;
	return true;
}

/* The status of `bash -n`, -1 when it did not run, or -2 in the copy that is to read. */
static int check(int verdict, bool extglob, char *said, size_t size)
{
	int ends[2], status = -1;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;

	const pid_t pid = fork();

	if (pid == 0 && become_reader(ends[1], verdict, extglob))
		return -2;
	close(ends[1]);
	bj_complaint_hear(ends[0], said, size);
	close(ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Say the verdict. True in the one process that goes on to open the script. */
static bool judge(int verdict_fd, bool check_only)
{
	struct bj_wire_verdict verdict = { .kind = BJ_VERDICT_OK };
	char said[2048], again[64];
	const int status = check(verdict_fd, false, said, sizeof(said));

	if (status == -2)
		return false;
	if (status < 0 || status == 126)
		_exit(1);
	if (status != 0 &&
	    !(bj_complaint_extglob(SCRIPT) && check(verdict_fd, true, again, sizeof(again)) == 0))
		bj_complaint_parse(SCRIPT, said, &verdict);
	bj_fd_write_all(verdict_fd, &verdict, sizeof(verdict));
	close(verdict_fd);
	if (verdict.kind != BJ_VERDICT_OK || check_only)
		_exit(0);
	return true;
}

/* The check is no child of Bash: it must not hear of its end. */
static bool judge_quietly(int verdict_fd, bool check_only)
{
	const struct timespec now = { 0 };
	sigset_t child, before;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);

	const bool goes_on = judge(verdict_fd, check_only);

	sigtimedwait(&child, NULL, &now);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return goes_on;
}

static void wait_for_script(void)
{
	struct bj_slot_go go;
	int fds[BJ_SLOT_FDS];
	size_t n = 0;

	if (!make_fresh() || send(FD_SLOT, "r", 1, MSG_NOSIGNAL) != 1 ||
	    bj_fd_recv(FD_SLOT, &go, sizeof(go), fds, BJ_SLOT_FDS, &n, 0) != sizeof(go) ||
	    n != BJ_SLOT_FDS)
		_exit(1);
	if (!go.no_limits && bj_rlimits_lower_processes(go.processes) < 0)
		_exit(1);
	for (int fd = 0; fd < 3; fd++)
		if (dup2(fds[BJ_SLOT_STDIN + fd], fd) < 0)
			_exit(1);

	/* As far up as nothing that Bash opens gets to. */
	const int verdict = fcntl(fds[BJ_SLOT_VERDICT], F_DUPFD_CLOEXEC, 64);

	if (verdict < 0)
		_exit(1);
	close_range(FD_SLOT, (unsigned int)verdict - 1, 0);
	if (judge_quietly(verdict, go.check_only != 0))
		make_fresh();
}

int wait_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (!waited && strcmp(path, SCRIPT) == 0) {
		waited = true;
		wait_for_script();
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
