/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The memory that the bodies of all requests take together: counted from their bytes' arrival until
 * nobody needs them any more, which for a run in line is long after its request was answered.
 * Thread-safe. */
struct bj_holds {
	atomic_size_t bytes;
	atomic_size_t most;
	pthread_mutex_t lock;  /* over what follows; all zeros will do */
	struct bj_hold *first; /* those of tenants */
};

/* So much of each request is not counted: small ones are never refused for the sake of large ones.
 */
enum { BJ_HOLD_FREE = 64 << 10 };

/* What one request holds. Counted. */
struct bj_hold;

/* NULL: no memory. */
struct bj_hold *bj_hold_new(struct bj_holds *holds);
struct bj_hold *bj_hold_ref(struct bj_hold *hold); /* NULL is fine */
void bj_hold_unref(struct bj_hold *hold);          /* the same */

/* It is of @tenant ("": of none), who holds three quarters at most. Say so once, before its bytes.
 */
void bj_hold_belong(struct bj_hold *hold, const char *tenant);

/* It holds @size bytes more. False: it does not, since all would hold too much together, or those
 * of its tenant. */
bool bj_hold_more(struct bj_hold *hold, size_t size);
