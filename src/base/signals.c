/* SPDX-License-Identifier: Apache-2.0 */
#include "base/signals.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The C library refuses to touch its own two. */
static void reset(int sig)
{
	static const struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		uint64_t mask;
	} def = { .handler = SIG_DFL };

	syscall(SYS_rt_sigaction, sig, &def, NULL, sizeof(def.mask));
}

void bj_signals_reset(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		reset(sig);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
