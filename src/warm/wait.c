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
#include "jar/farewell.h"
#include "jar/mounts.h"
#include "jar/rlimits.h"
#include "jar/script.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#define SCRIPT BJ_JAR_SCRIPT "/" BJ_SCRIPT_BASH

enum { FD_SLOT = 3 };

static bool waited;
static pid_t the_shell; /* the one process that runs the script */

/* The name is given in assembler: the headers have an `open` of their own. */
__attribute__((visibility("default"))) int wait_open(const char *path, int flags,
						     ...) __asm__("open");

/* The end of the shell itself, not of its subshells: say it before its memory is torn down. */
static void leave(int status, void *unused)
{
	(void)unused;
	if (getpid() != the_shell)
		return;
	fflush(NULL);
	bj_farewell_say(status);
}

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
	/* Registered first, called last. */
	on_exit(leave, NULL);
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

/* The forked copy that reads the script and executes nothing. It is forked while there is time, and
 * waits, too. */
struct reader {
	pid_t pid;
	int go;         /* a byte: the script is there; its end: it never will be */
	int complaints; /* what it says of the script */
};

__attribute__((noreturn)) static void check_with_extglob(int complaints)
{
	dup2(complaints, 2);
	execl("/proc/self/exe", "bash", "-n", "-O", "extglob", SCRIPT, (char *)NULL);
	_exit(126);
}

/* In the copy: wait, then go on as Bash does, but only read. */
static void become_reader(int go, int complaints)
{
	int *only_read = dlsym(RTLD_DEFAULT, "read_but_dont_execute");
	char byte;

	if (!only_read || read(go, &byte, 1) != 1 || dup2(complaints, 2) < 0)
		_exit(126);
	close_range(3, ~0u, 0);
	*only_read = 1;
}

/* True in the copy. */
static bool fork_reader(struct reader *r)
{
	int go[2], complaints[2];

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(complaints, O_CLOEXEC) < 0)
		_exit(1);
	r->pid = fork();
	if (r->pid < 0)
		_exit(1);
	if (r->pid == 0) {
		close(FD_SLOT);
		close(go[1]);
		close(complaints[0]);
		become_reader(go[0], complaints[1]);
		return true;
	}
	close(go[0]);
	close(complaints[1]);
	r->go = go[1];
	r->complaints = complaints[0];
	return false;
}

/* What the reader said, and its status; -1 when it did not run. */
static int hear(const struct reader *r, char *said, size_t size)
{
	int status = -1;

	bj_complaint_hear(r->complaints, said, size);
	close(r->complaints);
	if (waitpid(r->pid, &status, 0) != r->pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static bool passes_with_extglob(void)
{
	struct reader r = { .go = -1 };
	char said[64];
	int ends[2];

	if (!bj_complaint_extglob(SCRIPT) || pipe2(ends, O_CLOEXEC) < 0)
		return false;
	r.pid = fork();
	if (r.pid == 0)
		check_with_extglob(ends[1]);
	close(ends[1]);
	r.complaints = ends[0];
	return hear(&r, said, sizeof(said)) == 0;
}

/* Say the verdict. Returns only when the script may run. */
static void judge(const struct reader *r, int verdict_fd, bool check_only)
{
	struct bj_wire_verdict verdict = { .kind = BJ_VERDICT_OK };
	char said[2048];

	if (write(r->go, "g", 1) != 1)
		_exit(1);
	close(r->go);

	const int status = hear(r, said, sizeof(said));

	if (status < 0 || status == 126)
		_exit(1);
	if (status != 0 && !passes_with_extglob())
		bj_complaint_parse(SCRIPT, said, &verdict);
	bj_fd_write_all(verdict_fd, &verdict, sizeof(verdict));
	close(verdict_fd);
	if (verdict.kind != BJ_VERDICT_OK || check_only)
		_exit(0);
}

/* Wait for the script. *@ret_verdict is where the verdict goes. */
static struct bj_slot_go receive(int *ret_verdict)
{
	struct bj_slot_go go;
	int fds[BJ_SLOT_FDS];
	size_t n = 0;

	if (send(FD_SLOT, "r", 1, MSG_NOSIGNAL) != 1 ||
	    bj_fd_recv(FD_SLOT, &go, sizeof(go), fds, BJ_SLOT_FDS, &n, 0) != sizeof(go) ||
	    n != BJ_SLOT_FDS)
		_exit(1);
	if (!go.no_limits && bj_rlimits_lower(go.processes, go.cpu_seconds) < 0)
		_exit(1);
	for (int fd = 0; fd < 3; fd++)
		if (dup2(fds[BJ_SLOT_STDIN + fd], fd) < 0)
			_exit(1);
	close(FD_SLOT);
	close(fds[BJ_SLOT_SPEC]);
	for (int i = BJ_SLOT_STDIN; i <= BJ_SLOT_STDERR; i++)
		close(fds[i]);
	*ret_verdict = fds[BJ_SLOT_VERDICT];
	return go;
}

static void wait_for_script(void)
{
	const struct timespec now = { 0 };
	struct reader reader;
	sigset_t child, before;
	int verdict;

	if (!make_fresh())
		_exit(1);
	/* The reader is no child of Bash, which must not hear of its end. */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	if (fork_reader(&reader))
		return;

	const struct bj_slot_go go = receive(&verdict);

	judge(&reader, verdict, go.check_only != 0);
	sigtimedwait(&child, NULL, &now);
	sigprocmask(SIG_SETMASK, &before, NULL);
	make_fresh();
	the_shell = getpid();
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
