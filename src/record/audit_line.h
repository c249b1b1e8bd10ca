/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "record/audit.h"

#include <sodium.h>

/* The pieces of the audit log: keys, lines and the head. Private to the log and its readers. */

/* --- keys ------------------------------------------------------------------------------------- */

struct bj_audit_key {
	unsigned char secret[crypto_sign_SECRETKEYBYTES];
	unsigned char public[crypto_sign_PUBLICKEYBYTES];
	unsigned char mac[crypto_generichash_KEYBYTES]; /* for the head, derived */
	bool can_sign;                                  /* false: only @public is known */
};

/* Read the signing key from @path (NULL: keys/audit.key in the directory @top), or make it, with
 * the public half beside it as NAME.pub. *@ret_made: it did not exist. */
int bj_audit_key_open(const char *path, int top, struct bj_audit_key *ret, bool *ret_made,
		      struct bj_err *err);

/* Read a key to verify with: the public half alone, or a signing key. */
int bj_audit_key_read(const char *path, struct bj_audit_key *ret, struct bj_err *err);

/* --- lines ------------------------------------------------------------------------------------ */

/* One line as it was read and found to be signed. */
struct bj_audit_line {
	uint64_t seq;
	char prev[BJ_AUDIT_HASH], hash[BJ_AUDIT_HASH];
	json_t *root; /* owned */
};

/* Make the line that follows @prev, with the JSON object @data: its text without the line's end in
 * @ret, its hash in @hash. */
int bj_audit_line_make(const struct bj_audit_key *key, uint64_t seq, const char prev[BJ_AUDIT_HASH],
		       const char *kind, const char *data, struct bj_buf *ret,
		       char hash[BJ_AUDIT_HASH], struct bj_err *err);

/* Read a line of @size bytes. -BJ_E_DENIED: the signature does not fit. The caller ends *@ret
 * with bj_audit_line_done(). */
int bj_audit_line_read(const struct bj_audit_key *key, const char *text, size_t size,
		       struct bj_audit_line *ret, struct bj_err *err);
void bj_audit_line_done(struct bj_audit_line *line);

void bj_audit_hash(const char *text, size_t size, char hash[BJ_AUDIT_HASH]);

/* The hash that stands for "nothing before". */
extern const char bj_audit_no_hash[BJ_AUDIT_HASH];

/* --- the head --------------------------------------------------------------------------------- */

/* One page, written by one pwrite(2): a process that is killed leaves the old one or the new one,
 * never a mix. It is written before the line and holds the whole of it, so that whoever finds the
 * line missing can write it: a crash loses nothing, and cutting the last line off gains nothing. */
enum { BJ_AUDIT_PAGE = 4096 };

struct bj_audit_head {
	unsigned int file; /* number of the log's file */
	uint64_t offset;   /* where the line begins in it */
	uint64_t seq;
	char hash[BJ_AUDIT_HASH];
	char line[BJ_AUDIT_LINE_MAX + 1]; /* with its end */
	size_t size;
	bool is_signed; /* beside the MAC, which needs the secret key to check */
};

/* @sign: with a signature too. */
int bj_audit_head_print(const struct bj_audit_key *key, const struct bj_audit_head *head, bool sign,
			char page[BJ_AUDIT_PAGE], struct bj_err *err);

/* -BJ_E_DENIED: it is broken or not made with this key. */
int bj_audit_head_read(const struct bj_audit_key *key, const char page[BJ_AUDIT_PAGE],
		       struct bj_audit_head *ret, struct bj_err *err);

/* The same for whoever holds the secret key and is about to replace the head: its MAC is enough,
 * and takes a fraction of the time. */
int bj_audit_head_recall(const struct bj_audit_key *key, const char page[BJ_AUDIT_PAGE],
			 struct bj_audit_head *ret);

/* --- files ------------------------------------------------------------------------------------ */

#define BJ_AUDIT_DIR  "audit"
#define BJ_AUDIT_HEAD "audit.head"
#define BJ_AUDIT_LOCK "audit.lock"

enum { BJ_AUDIT_NAME = 32 };
void bj_audit_file_name(unsigned int number, char name[BJ_AUDIT_NAME]);

/* The numbers of the files in @dir, sorted; *@ret_n of them. The caller frees *@ret. */
int bj_audit_files(int dir, unsigned int **ret, size_t *ret_n, struct bj_err *err);
