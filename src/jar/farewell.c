/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/farewell.h"

#include "base/cleanup.h"
#include "base/fd.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In what exit_group takes for a code, of which the kernel passes on the lowest byte only. The same
 * stands in runtime/cold.py. */
#define MARK      0x62656c00u
#define MARK_BITS 0xffffff00u

#define NO_CALL UINT32_MAX /* a number that no call has */

/* Bytes from the start of the argument to its lower half. */
enum { LOWER = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4 };

/* What is loaded at most. */
enum { OWN = 8, REST_MAX = 64 };

/* Its own part of the program: what is not told of is up to what follows. A call of another
 * architecture that looks like this one dies in the jar's own filter. */
static void write_own(struct sock_filter *code, bool sockets)
{
	const uint32_t one = sockets ? SYS_socket : NO_CALL;
	const uint32_t two = sockets ? SYS_socketpair : NO_CALL;
	const struct sock_filter own[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, two, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]) + LOWER),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MARK_BITS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
	};

	_Static_assert(sizeof(own) == OWN * sizeof(*own), "what follows comes right behind");
	memcpy(code, own, sizeof(own));
}

int bj_farewell_listen(bool sockets, const struct bj_filter *rest)
{
	static const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const size_t size = rest ? rest->size : sizeof(allow);
	struct sock_filter code[OWN + REST_MAX];
	const struct sock_fprog program = { .len = (unsigned short)(OWN + size / sizeof(*code)),
					    .filter = code };

	if (size > REST_MAX * sizeof(*code))
		return -1;
	write_own(code, sockets);
	memcpy(code + OWN, rest ? rest->code : &allow, size);
	/* Once heard, only a kill ends the call. Otherwise a timer of the script would wake it
	 * after it was answered. Linux before 5.19 cannot promise that: then nobody listens. */
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER |
				    SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			    &program);
}

int bj_farewell_offer(int sock, bool sockets)
{
	AUTO_FD int fd = bj_farewell_listen(sockets, NULL);

	return fd < 0 ? 0 : bj_fd_send(sock, "l", 1, &fd, 1);
}

void bj_farewell_say(int code)
{
	syscall(SYS_exit_group, MARK | (unsigned int)(code & 0xff));
	/* Nobody listens any more. */
	_exit(code);
}

void bj_farewell_go_on(int fd, uint64_t id)
{
	struct seccomp_notif_resp answer = { .id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	/* It fails only when the process was killed meanwhile. */
	ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

enum bj_farewell bj_farewell_hear(int fd, pid_t pid, int *ret_code, uint64_t *ret_id)
{
	struct seccomp_notif call = { 0 };

	if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
		return BJ_FAREWELL_NONE;

	const bool is_last = call.data.nr == SYS_exit_group;

	if (!is_last || call.pid != (uint32_t)pid) {
		bj_farewell_go_on(fd, call.id);
		return is_last ? BJ_FAREWELL_NONE : BJ_FAREWELL_SOCKET;
	}
	*ret_code = (int)(call.data.args[0] & 0xff);
	*ret_id = call.id;
	return BJ_FAREWELL_LAST;
}
