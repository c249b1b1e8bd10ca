/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "belljar.h"

/* Compiled seccomp filters. The build turns profiles/NAME.json into these bytes with libseccomp, so
 * that a process which makes jars loads bytes and nothing else.
 *
 * floor    a deny-list that no jar runs without: what no profile may give back
 * jar      profiles/default.json, the allow-list used when no custom profile is given, and the
 *          floor in one: it answers as both would (compact.h)
 * zygote   the part of it that a zygote can keep to; its slots inherit it
 * slot     the rest of it: calls that a slot makes to seal itself
 * init     for the init of a jar, which loads it once it has started
 * collect  for the process that collects artifacts, which loads it once it has started
 * import   for the process that unpacks a foreign image
 * front    a deny-list for what reads foreign bytes, and for the starter when it only waits: no
 * mounts, no namespaces, nothing of other processes, nothing of the machine launcher the same for
 * what makes jars, which must mount and make namespaces; all its children inherit it
 *
 * A call from another architecture, or with an x32 number, kills the process in all of them.
 *
 * The floor relies on one thing that a filter cannot do: SIGSYS must be ignored (SIG_IGN) before
 * exec. The floor then keeps it so, and a process that died of SIGSYS was killed by a rule. */

struct bj_filter {
	const void *code; /* struct sock_filter[] */
	size_t size;      /* bytes */
};

extern const struct bj_filter bj_filter_floor, bj_filter_jar, bj_filter_zygote, bj_filter_slot,
	bj_filter_init, bj_filter_collect, bj_filter_import, bj_filter_front, bj_filter_launcher;

/* The longest program: the kernel takes 4,096 instructions of 8 bytes; bj_filter_seal() adds some.
 */
enum { BJ_FILTER_ADDED = 3, BJ_FILTER_MAX = (4096 - BJ_FILTER_ADDED) * 8 };

/* Load one filter into the calling thread, for good. It needs no_new_privs or CAP_SYS_ADMIN.
 * Async-signal-safe, allocates nothing. @filter may come from another process: a size that the
 * kernel would not take is -EINVAL. 0 or -errno. */
int bj_filter_load(const struct bj_filter *filter);

/* Load what seals a script: the floor with @custom, or with our default when @custom is NULL.
 * The next call should be execve: after it, only what both filters allow still works.
 * The floor comes last, since it forbids the loading of filters: nothing that a custom filter says
 * about that counts. The floor's errno is what the script sees. 0 or -errno; on failure the thread
 * may be half sealed and must end. */
int bj_filter_seal(const struct bj_filter *custom);
