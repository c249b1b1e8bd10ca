/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "seccomp/filters.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How the launcher learns that an interpreter has done its script before the kernel has torn down
 * its memory, which takes longer than a short script.
 *
 * The interpreter's last call is exit_group with a mark in the part of its argument that the kernel
 * ignores. A filter of its own stops that one call and tells the launcher. Ordinary
 * exits, of the script and of what it starts, have no mark and go on as ever. A script may use the
 * mark itself: it says then that it exits, is believed, and is killed.
 *
 * In a service the same filter tells of every socket before it is made (nets.h). What the jar's own
 * filter refuses is refused without a word. */

/* In the interpreter: load the filter, and with it @rest in one program; NULL: nothing else. @rest
 * is not asked about what the launcher hears of, so it must not be what refuses any of that. A
 * descriptor that hears the last call, for the launcher; -1 when this kernel has none, and then
 * nothing is loaded. Everything works without it. Of @sockets only a launcher that keeps network
 * namespaces wants to hear. */
int bj_farewell_listen(bool sockets, const struct bj_filter *rest);

/* The same, before the interpreter is sealed, and send the descriptor to the launcher through
 * @sock. When that fails the last call of a program that knows only how to exit would kill it. 0 or
 * -errno. */
int bj_farewell_offer(int sock, bool sockets);

/* In the interpreter: the end. */
__attribute__((noreturn)) void bj_farewell_say(int code);

enum bj_farewell {
	BJ_FAREWELL_NONE,   /* nothing, or the last call of another process, which goes on */
	BJ_FAREWELL_SOCKET, /* somebody makes a socket, and goes on */
	BJ_FAREWELL_LAST,
};

/* In the launcher: what is called? Of the last call of @pid its code is in *@ret_code and the call
 * itself in *@ret_id. */
enum bj_farewell bj_farewell_hear(int fd, pid_t pid, int *ret_code, uint64_t *ret_id);

/* Let the call @id be an ordinary exit. */
void bj_farewell_go_on(int fd, uint64_t id);
