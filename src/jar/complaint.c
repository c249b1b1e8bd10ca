/* SPDX-License-Identifier: Apache-2.0 */
#include "jar/complaint.h"

#include "base/cleanup.h"
#include "base/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void bj_complaint_hear(int fd, char *said, size_t size)
{
	size_t used = 0;
	char rest[512] = { 0 };
	ssize_t n;

	while ((n = read(fd, used < size - 1 ? said + used : rest,
			 used < size - 1 ? size - 1 - used : sizeof(rest))) > 0)
		if (used < size - 1)
			used += (size_t)n;
	said[used] = '\0';
}

void bj_complaint_parse(const char *script, char *said, struct bj_wire_verdict *verdict)
{
	const size_t len = strlen(script);
	char *message = said;

	said[strcspn(said, "\n")] = '\0';
	if (strncmp(message, script, len) == 0 && strncmp(message + len, ": ", 2) == 0)
		message += len + 2;
	if (strncmp(message, "line ", 5) == 0) {
		char *end;
		const unsigned long line = strtoul(message + 5, &end, 10);

		verdict->line = (uint32_t)line;
		if (strncmp(end, ": ", 2) == 0)
			message = end + 2;
	}
	verdict->kind = BJ_VERDICT_SYNTAX;
	snprintf(verdict->message, sizeof(verdict->message), "%s", message);
}

bool bj_complaint_extglob(const char *script)
{
	AUTO_BUF struct bj_buf text = { .max = BJ_WIRE_SCRIPT_MAX };
	AUTO_FD int fd = open(script, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && bj_fd_read_all(fd, &text) == 0 && text.size > 0 &&
	       memmem(text.data, text.size, "extglob", 7) != NULL;
}
