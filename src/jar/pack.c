/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/pack.h"

#include "base/err.h"
#include "base/utf8.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* At @c, which has @left bytes: C0, DEL, or C1, which terminals obey in UTF-8, too. */
static bool is_control(const char *c, size_t left)
{
	const unsigned char first = (unsigned char)c[0];

	return first < 0x20 || first == 0x7f ||
	       (first == 0xc2 && left > 1 && (unsigned char)c[1] < 0xa0);
}

bool bj_pack_name_ok(const char *name, size_t size)
{
	if (size == 0 || size > BJ_PACK_NAME_MAX)
		return false;
	if (name[0] == '.' && (size == 1 || (size == 2 && name[1] == '.')))
		return false;
	for (size_t i = 0; i < size; i++)
		if (name[i] == '/' || is_control(name + i, size - i))
			return false;
	return bj_utf8_valid(name, size);
}

bool bj_pack_head_valid(const struct bj_pack_head *head)
{
	return head->type >= BJ_PACK_ARG && head->type <= BJ_PACK_END &&
	       head->name_size <= BJ_PACK_NAME_MAX;
}

void bj_pack_add(struct bj_buf *buf, enum bj_pack_type type, const char *name, const void *data,
		 size_t size)
{
	const struct bj_pack_head head = { .type = type,
					   .name_size = (uint32_t)strlen(name),
					   .data_size = size };

	if (!bj_pack_head_valid(&head)) {
		buf->failed = true;
		return;
	}
	bj_buf_add(buf, &head, sizeof(head));
	bj_buf_add(buf, name, head.name_size);
	bj_buf_add(buf, data, size);
}

int bj_pack_next(const void *pack, size_t size, size_t *pos, struct bj_pack_record *ret)
{
	struct bj_pack_head head;
	const char *bytes = pack;

	if (*pos > size || size - *pos < sizeof(head))
		return -BJ_E_PROTOCOL;
	memcpy(&head, bytes + *pos, sizeof(head));

	const size_t left = size - *pos - sizeof(head);

	if (!bj_pack_head_valid(&head) || head.name_size > left ||
	    head.data_size > left - head.name_size)
		return -BJ_E_PROTOCOL;
	if (head.type == BJ_PACK_END)
		return 0;

	const char *name = bytes + *pos + sizeof(head);

	ret->type = (enum bj_pack_type)head.type;
	memcpy(ret->name, name, head.name_size);
	ret->name[head.name_size] = '\0';
	ret->data = name + head.name_size;
	ret->size = (size_t)head.data_size;
	*pos += sizeof(head) + head.name_size + (size_t)head.data_size;
	return 1;
}

int bj_pack_map(int fd, const void **ret_pack, size_t *ret_size, struct bj_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_size <= 0)
		return bj_err_set(err, BJ_E_PROTOCOL, errno, "the spec is empty");

	/* Nobody can change it any more. */
	void *pack = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);

	if (pack == MAP_FAILED)
		return bj_err_set(err, BJ_E_SYSTEM, errno, "cannot map the spec");
	*ret_pack = pack;
	*ret_size = (size_t)st.st_size;
	return 0;
}
