/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "record/audit_line.h"
#include "record/state.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>

/* Both files hold one line: a word that says which half it is, and the bytes in base64. */
#define SECRET_WORD "belljar-audit-secret "
#define PUBLIC_WORD "belljar-audit-public "

enum { KEY_FILE_MAX = 256 };

static void derive(struct bj_audit_key *key)
{
	static const char what[] = "belljar-audit-head-1";

	crypto_sign_ed25519_sk_to_pk(key->public, key->secret);
	crypto_generichash(key->mac, sizeof(key->mac), (const unsigned char *)what, sizeof(what),
			   key->secret, crypto_sign_SEEDBYTES);
	key->can_sign = true;
}

static bool decode(const char *text, const char *word, unsigned char *bytes, size_t size)
{
	const size_t skip = strlen(word);
	size_t n = 0;

	return strncmp(text, word, skip) == 0 &&
	       sodium_base642bin(bytes, size, text + skip, strcspn(text + skip, "\r\n"), NULL, &n,
				 NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
	       n == size;
}

static int parse(const char *text, struct bj_audit_key *ret)
{
	unsigned char seed[crypto_sign_SEEDBYTES];
	struct bj_audit_key key = { 0 };

	if (decode(text, PUBLIC_WORD, key.public, sizeof(key.public))) {
		*ret = key;
		return 0;
	}
	if (!decode(text, SECRET_WORD, seed, sizeof(seed)))
		return -BJ_E_INVALID;
	crypto_sign_seed_keypair(key.public, key.secret, seed);
	derive(&key);
	*ret = key;
	return 0;
}

static int read_fd(int fd, const char *path, struct bj_audit_key *ret, struct bj_err *err)
{
	AUTO_BUF struct bj_buf text = { .max = KEY_FILE_MAX };

	if (bj_fd_read_all(fd, &text) < 0 || text.size == 0 || parse(text.data, ret) < 0)
		return bj_err_set(err, BJ_E_INVALID, 0, "%.120s holds no key of the audit log",
				  path);
	return 0;
}

int bj_audit_key_read(const char *path, struct bj_audit_key *ret, struct bj_err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot open %.120s", path);
	if (sodium_init() < 0)
		return bj_err_set(err, BJ_E_SYSTEM, 0, "no random numbers");
	return read_fd(fd, path, ret, err);
}

/* A file with one line, whole or not there at all: written aside, then linked to its name. */
static int write_file(int dir, const char *name, const char *word, const unsigned char *bytes,
		      size_t size)
{
	char text[KEY_FILE_MAX], aside[NAME_MAX + 1];
	const int n = snprintf(text, sizeof(text), "%s", word);

	sodium_bin2base64(text + n, sizeof(text) - (size_t)n - 1, bytes, size,
			  sodium_base64_VARIANT_ORIGINAL);

	const size_t length = strlen(text);

	text[length] = '\n';
	snprintf(aside, sizeof(aside), ".%.100s.%d", name, getpid());

	AUTO_FD int fd = bj_state_file(dir, aside, O_WRONLY | O_CREAT | O_EXCL);
	int r = fd < 0 ? fd : bj_fd_write_all(fd, text, length + 1);

	sodium_memzero(text, sizeof(text));
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && linkat(dir, aside, dir, name, 0) < 0)
		r = -errno;
	unlinkat(dir, aside, 0);
	return r;
}

static int make(int dir, const char *name, struct bj_err *err)
{
	struct bj_audit_key key;
	unsigned char seed[crypto_sign_SEEDBYTES];
	char public_name[NAME_MAX + 1];

	randombytes_buf(seed, sizeof(seed));
	crypto_sign_seed_keypair(key.public, key.secret, seed);

	const int r = write_file(dir, name, SECRET_WORD, seed, sizeof(seed));

	sodium_memzero(seed, sizeof(seed));
	if (r == -EEXIST)
		return 1; /* somebody was faster: theirs is the key */
	if (r < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -r, "cannot make the audit key");
	snprintf(public_name, sizeof(public_name), "%.200s.pub", name);
	unlinkat(dir, public_name, 0);

	const int p = write_file(dir, public_name, PUBLIC_WORD, key.public, sizeof(key.public));

	return p < 0 && p != -EEXIST ? bj_err_set(err, BJ_E_SYSTEM, -p,
						  "cannot write the audit key's public half")
				     : 0;
}

/* The directory that @path lies in, which must exist. */
static int open_parent(const char *path, struct bj_err *err)
{
	AUTO_FREE char *copy = strdup(path);
	const char *parent = copy ? dirname(copy) : ".";
	const int dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "audit.key: cannot open %.120s", parent);
	return dir;
}

/* Who could read the key could sign. */
static int check_private(int fd, const char *name, struct bj_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || (st.st_mode & 077))
		return bj_err_set(err, BJ_E_DENIED, 0,
				  "others may read the audit key %.120s; chmod 600 it", name);
	return 0;
}

int bj_audit_key_open(const char *path, int top, struct bj_audit_key *ret, bool *ret_made,
		      struct bj_err *err)
{
	AUTO_FREE char *copy = strdup(path ? path : "audit.key");
	AUTO_FD int dir =
		path ? open_parent(path, err) : bj_state_below(top, "state_dir", "keys", err);
	const char *name = copy ? basename(copy) : NULL;
	bool made = false;

	if (dir < 0)
		return dir;
	if (!name || sodium_init() < 0)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot read the audit key");

	AUTO_FD int fd = bj_state_file(dir, name, O_RDONLY);

	if (fd == -ENOENT) {
		const int r = make(dir, name, err);

		if (r < 0)
			return r;
		made = r == 0;
		fd = bj_state_file(dir, name, O_RDONLY);
	}
	if (fd < 0)
		return bj_err_set(err, BJ_E_SYSTEM, -fd, "cannot open the audit key %.120s", name);

	int r = check_private(fd, name, err);

	if (r == 0)
		r = read_fd(fd, name, ret, err);
	if (r == 0 && !ret->can_sign)
		r = bj_err_set(err, BJ_E_INVALID, 0, "%.120s is only the public half", name);
	if (r == 0)
		*ret_made = made;
	return r;
}
