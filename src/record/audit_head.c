/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/size.h"
#include "record/audit_line.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define DOMAIN    "belljar-audit-head-1\n"
#define MAC_FIELD ",\"mac\":\""

enum { MAC_BYTES = 32, MAC_TEXT = 65, SIG_TEXT = 89 };

static void make_mac(const struct bj_audit_key *key, const char *text, size_t size,
		     char mac[MAC_TEXT])
{
	unsigned char bytes[MAC_BYTES];

	crypto_generichash(bytes, sizeof(bytes), (const unsigned char *)text, size, key->mac,
			   sizeof(key->mac));
	sodium_bin2hex(mac, MAC_TEXT, bytes, sizeof(bytes));
}

int bj_audit_head_print(const struct bj_audit_key *key, const struct bj_audit_head *head, bool sign,
			char page[BJ_AUDIT_PAGE], struct bj_err *err)
{
	AUTO_BUF struct bj_buf buf = { 0 };
	const size_t skip = sizeof(DOMAIN) - 1;
	unsigned char sig[crypto_sign_BYTES];
	char mac[MAC_TEXT], sig_text[SIG_TEXT] = "";

	bj_buf_printf(&buf,
		      DOMAIN "{\"file\":%u,\"offset\":%" PRIu64 ",\"seq\":%" PRIu64
			     ",\"hash\":\"%s\"",
		      head->file, head->offset, head->seq, head->hash);
	if (buf.failed)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "no memory for the audit log's head");
	make_mac(key, buf.data, buf.size, mac);
	if (sign) {
		crypto_sign_detached(sig, NULL, (const unsigned char *)buf.data, buf.size,
				     key->secret);
		sodium_bin2base64(sig_text, sizeof(sig_text), sig, sizeof(sig),
				  sodium_base64_VARIANT_ORIGINAL);
	}
	bj_buf_printf(&buf, MAC_FIELD "%s\",\"sig\":\"%s\"}\n", mac, sig_text);
	bj_buf_add(&buf, head->line, head->size);
	if (buf.failed || buf.size - skip > BJ_AUDIT_PAGE)
		return bj_err_set(err, BJ_E_LIMIT, 0, "a line of the audit log is too long");
	memset(page, 0, BJ_AUDIT_PAGE);
	memcpy(page, buf.data + skip, buf.size - skip);
	return 0;
}

static bool sig_fits(const struct bj_audit_key *key, const char *text, size_t size,
		     const char *sig_text)
{
	unsigned char sig[crypto_sign_BYTES];
	size_t n = 0;

	return sodium_base642bin(sig, sizeof(sig), sig_text, strlen(sig_text), NULL, &n, NULL,
				 sodium_base64_VARIANT_ORIGINAL) == 0 &&
	       n == sizeof(sig) &&
	       crypto_sign_verify_detached(sig, (const unsigned char *)text, size, key->public) ==
		       0;
}

/* Whether the first line of the page, @size bytes, is ours: by the MAC where the secret is known,
 * by the signature where it is there. */
static bool is_ours(const struct bj_audit_key *key, const char *page, size_t size,
		    const json_t *root, bool by_mac)
{
	AUTO_BUF struct bj_buf text = { 0 };
	const char *mac_at = memmem(page, size, MAC_FIELD, strlen(MAC_FIELD));
	const char *mac = json_string_value(json_object_get(root, "mac"));
	const char *sig = json_string_value(json_object_get(root, "sig"));
	char good[MAC_TEXT];

	if (!mac_at || !mac || !sig || strlen(mac) != MAC_TEXT - 1)
		return false;
	bj_buf_puts(&text, DOMAIN);
	bj_buf_add(&text, page, (size_t)(mac_at - page));
	if (text.failed)
		return false;
	if (key->can_sign) {
		make_mac(key, text.data, text.size, good);
		if (sodium_memcmp(good, mac, MAC_TEXT - 1) != 0)
			return false;
	}
	return sig[0] && !(by_mac && key->can_sign) ? sig_fits(key, text.data, text.size, sig)
						    : key->can_sign;
}

static int broken(struct bj_err *err)
{
	return bj_err_set(err, BJ_E_DENIED, 0, "the head was not made with the key of this log");
}

/* The line that the head holds. */
static int take_line(const char *page, size_t first, struct bj_audit_head *head)
{
	const size_t size = strnlen(page + first, BJ_AUDIT_PAGE - first);
	char hash[BJ_AUDIT_HASH];

	if (size < 2 || size >= sizeof(head->line) || page[first + size - 1] != '\n')
		return -1;
	bj_audit_hash(page + first, size - 1, hash);
	if (strcmp(hash, head->hash) != 0)
		return -1;
	memcpy(head->line, page + first, size);
	head->size = size;
	return 0;
}

static int read_head(const struct bj_audit_key *key, const char page[BJ_AUDIT_PAGE], bool by_mac,
		     struct bj_audit_head *ret, struct bj_err *err)
{
	const char *end = memchr(page, '\n', BJ_AUDIT_PAGE - 1);
	json_t *root =
		end ? json_loadb(page, (size_t)(end - page), JSON_REJECT_DUPLICATES, NULL) : NULL;
	const char *hash = json_string_value(json_object_get(root, "hash"));
	const char *sig = json_string_value(json_object_get(root, "sig"));
	struct bj_audit_head head = {
		.file = (unsigned int)json_integer_value(json_object_get(root, "file")),
		.offset = (uint64_t)json_integer_value(json_object_get(root, "offset")),
		.seq = (uint64_t)json_integer_value(json_object_get(root, "seq")),
		.is_signed = sig && sig[0],
	};
	const bool ours = root && hash && strlen(hash) == BJ_AUDIT_HASH - 1 &&
			  is_ours(key, page, (size_t)(end - page), root, by_mac);

	if (ours)
		memcpy(head.hash, hash, sizeof(head.hash));
	json_decref(root);
	if (!ours || take_line(page, (size_t)(end - page) + 1, &head) < 0)
		return broken(err);
	*ret = head;
	return 0;
}

int bj_audit_head_read(const struct bj_audit_key *key, const char page[BJ_AUDIT_PAGE],
		       struct bj_audit_head *ret, struct bj_err *err)
{
	return read_head(key, page, false, ret, err);
}

int bj_audit_head_recall(const struct bj_audit_key *key, const char page[BJ_AUDIT_PAGE],
			 struct bj_audit_head *ret)
{
	return read_head(key, page, true, ret, NULL);
}

/* --- files ------------------------------------------------------------------------------------ */

void bj_audit_file_name(unsigned int number, char name[BJ_AUDIT_NAME])
{
	snprintf(name, BJ_AUDIT_NAME, "audit-%06u.jsonl", number);
}

/* The number of a file's name; 0: it is none of the log. */
static unsigned int number_of(const char *name)
{
	char digits[16], again[BJ_AUDIT_NAME];
	uint64_t number = 0;
	const size_t n = strlen(name) > 6 ? strspn(name + 6, "0123456789") : 0;

	if (strncmp(name, "audit-", 6) != 0 || n == 0 || n >= sizeof(digits))
		return 0;
	snprintf(digits, sizeof(digits), "%.*s", (int)n, name + 6);
	if (bj_u64_parse(digits, &number) < 0 || number > INT32_MAX)
		return 0;
	bj_audit_file_name((unsigned int)number, again);
	return strcmp(again, name) == 0 ? (unsigned int)number : 0;
}

static int by_number(const void *a, const void *b)
{
	const unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

int bj_audit_files(int dir, unsigned int **ret, size_t *ret_n, struct bj_err *err)
{
	const int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR DIR *d = again < 0 ? NULL : fdopendir(again);
	AUTO_BUF struct bj_buf list = { 0 };
	const struct dirent *entry;

	if (!d)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot list the audit log");
	while ((entry = readdir(d))) {
		const unsigned int number = number_of(entry->d_name);

		if (number > 0)
			bj_buf_add(&list, &number, sizeof(number));
	}
	if (list.failed)
		return bj_err_set(err, BJ_E_SYSTEM, ENOMEM, "cannot list the audit log");
	*ret_n = list.size / sizeof(unsigned int);
	if (*ret_n > 1)
		qsort(list.data, *ret_n, sizeof(unsigned int), by_number);
	*ret = (unsigned int *)(void *)bj_buf_take(&list);
	return 0;
}
