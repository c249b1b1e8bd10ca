/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/landlock.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel interface up to ABI 7. Debian's headers stop at ABI 2, so it is spelled out here. */
struct ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

struct path_beneath {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

enum { CREATE_VERSION = 1, RULE_PATH_BENEATH = 1 };

#define FS_EXECUTE    (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE  (UINT64_C(1) << 2)
#define FS_READ_DIR   (UINT64_C(1) << 3)
#define FS_REFER      (UINT64_C(1) << 13)
#define FS_TRUNCATE   (UINT64_C(1) << 14)
#define FS_IOCTL_DEV  (UINT64_C(1) << 15)

#define FS_ABI_1 ((UINT64_C(1) << 13) - 1)

static const uint64_t RIGHTS[] = {
	[BJ_LANDLOCK_READ] = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR,
	[BJ_LANDLOCK_USE] = FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
	[BJ_LANDLOCK_WRITE] = ~FS_EXECUTE,
};

#define SCOPE_ABSTRACT_SOCKET (UINT64_C(1) << 0)
#define SCOPE_SIGNAL          (UINT64_C(1) << 1)

/* What a script is refused is no news, and it could fill the log of the machine with it: by itself,
 * or in a domain of its own. */
enum { LOG_SAME_EXEC_OFF = 1 << 0, LOG_SUBDOMAINS_OFF = 1 << 2, LOG_ABI = 7 };

uint32_t bj_landlock_abi(void)
{
	const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);

	return abi > 0 ? (uint32_t)abi : 0;
}

static uint64_t handled_fs(uint32_t abi)
{
	return FS_ABI_1 | (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0) |
	       (abi >= 5 ? FS_IOCTL_DEV : 0);
}

static int make_ruleset(uint32_t abi)
{
	const struct ruleset_attr attr = {
		.handled_access_fs = handled_fs(abi),
		.scoped = abi >= 6 ? SCOPE_ABSTRACT_SOCKET | SCOPE_SIGNAL : 0,
	};
	/* Older kernels take the shorter forms of the structure. */
	const size_t size = abi >= 6 ? sizeof(attr) : abi >= 4 ? 16 : 8;

	return (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
}

static int add_rule(int ruleset, const struct bj_landlock_rule *rule, uint64_t handled)
{
	AUTO_FD int fd = open(rule->path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -1;

	const struct path_beneath beneath = { .allowed_access = RIGHTS[rule->right] & handled,
					      .parent_fd = fd };

	return (int)syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &beneath, 0);
}

int bj_landlock_seal(const struct bj_landlock_rule *rules, size_t n, uint32_t *ret_abi,
		     struct bj_err *err)
{
	const uint32_t abi = bj_landlock_abi();

	if (abi == 0) {
		*ret_abi = 0;
		return 0;
	}
	AUTO_FD int ruleset = make_ruleset(abi);
	if (ruleset < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot make a Landlock ruleset");
	for (size_t i = 0; i < n; i++)
		if (add_rule(ruleset, &rules[i], handled_fs(abi)) < 0)
			return bj_err_set(err, BJ_E_SYSTEM, errno, "Landlock refuses %s",
					  rules[i].path);
	if (syscall(SYS_landlock_restrict_self, ruleset,
		    abi >= LOG_ABI ? LOG_SAME_EXEC_OFF | LOG_SUBDOMAINS_OFF : 0) < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot enter Landlock");
	*ret_abi = abi;
	return 0;
}
