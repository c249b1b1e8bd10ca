/* SPDX-License-Identifier: Apache-2.0 */

/* What the first process of a jar does before it turns into jar-init: it builds the jar. */

#include "base/err.h"
#include "base/fd.h"
#include "jar/creds.h"
#include "jar/layers.h"
#include "jar/namespaces.h"
#include "jar/net.h"
#include "jar/pack.h"
#include "jar/seal.h"
#include "jar/userns.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static int build_jar(const struct bj_seal_build *plan, struct bj_seal_report *report,
		     int *ret_files)
{
	struct bj_err *err = &report->err;
	struct bj_mounts_jar jar = { .image = plan->image,
				     .has_root = plan->has_root,
				     .tmp_size = plan->tmp_size,
				     .proc = plan->proc };
	uint64_t layers = 0;
	int r = 0;

	/* An unmapped uid cannot create files, not even as root of the namespace. */
	if (!bj_layer_faulty(BJ_LAYER_USER_NS))
		r = bj_creds_become(plan->init_uid, plan->init_uid, err);
	/* The change of uid made us opaque, even to a launcher that is not root: it could not
	 * join our namespaces. The init program makes itself opaque again. */
	if (r == 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		r = bj_err_set(err, BJ_E_SYSTEM, errno, "cannot be joined");
	if (r == 0 && !bj_layer_faulty(BJ_LAYER_USER_NS))
		r = bj_userns_forbid(plan->proc_fd, err);
	if (r == 0 && !plan->has_net && !bj_layer_faulty(BJ_LAYER_NET_NS))
		r = bj_net_furnish(plan->proc_fd, err);
	if (r == 0 && !bj_layer_faulty(BJ_LAYER_UTS_NS) && sethostname("belljar", 7) < 0)
		r = bj_err_set(err, BJ_E_SYSTEM, errno, "cannot set the host name");
	if (r == 0 && plan->spec_fd >= 0)
		r = bj_pack_map(plan->spec_fd, &jar.pack, &jar.pack_size, err);
	if (r == 0)
		r = bj_mounts_enter(&jar, &layers, ret_files, err);
	report->layers = layers | bj_namespaces_layers();
	return r;
}

/* Nothing stays with init but, where there is one, its descriptor for the program to run. */
static void shed_everything(int exe)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGCHLD, SIG_IGN);
	setsid();
	if (exe > 0)
		close_range(0, (unsigned int)exe - 1, 0);
	close_range((unsigned int)(exe + 1), ~0u, 0);
}

/* A network namespace takes the kernel longer than all others, and it may have to wait until it has
 * removed others. So it is made here, not where init is born: there others would wait. */
static int own_network(const struct bj_seal_build *plan, struct bj_err *err)
{
	if (!plan->has_net && !bj_layer_faulty(BJ_LAYER_NET_NS) && unshare(CLONE_NEWNET) < 0)
		return bj_err_set(err, BJ_E_UNSUPPORTED, errno,
				  "cannot make a network namespace; run `belljar doctor`");
	return 0;
}

void bj_seal_init(const struct bj_seal_build *plan, int go_fd, int report_fd)
{
	struct bj_seal_report report = { .nonce = plan->nonce };
	const int r = own_network(plan, &report.err);
	int files = -1;
	char go;

	if (read(go_fd, &go, 1) != 1)
		_exit(1); /* whoever bore us gave up */
	report.failed = r < 0 || build_jar(plan, &report, &files) < 0;
	if (bj_fd_send(report_fd, &report, sizeof(report), &files, files >= 0) < 0 || report.failed)
		_exit(1);
	shed_everything(plan->init_exe);
	if (bj_creds_end_root(NULL) < 0 || bj_creds_no_new_privs(NULL) < 0)
		_exit(1);
}
