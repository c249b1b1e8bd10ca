/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/frame.h"

#include <string.h>

/* What the headers say about where the request ends. */
struct frame {
	unsigned int hosts, lengths, codings;
	bool chunked;
	bool odd; /* a header that others may cut elsewhere, or not see */
};

/* A token of RFC 9110: no blanks, no control characters. */
static bool is_token(const char *text, size_t size)
{
	static const char MARKS[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < size; i++) {
		const char c = text[i];
		const bool word =
			(c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');

		if (!word && (c == '\0' || !strchr(MARKS, c)))
			return false;
	}
	return size > 0;
}

static bool has_break(const char *text, size_t size)
{
	return memchr(text, '\r', size) || memchr(text, '\n', size) || memchr(text, '\0', size);
}

static bool is(const char *text, size_t size, const char *word)
{
	return size == strlen(word) && strncasecmp(text, word, size) == 0;
}

/* A value that goes on in the next line (obs-fold) comes from the library as part of the name. */
static bool begins(const char *text, size_t size, const char *word)
{
	return size > strlen(word) && strncasecmp(text, word, strlen(word)) == 0;
}

static enum MHD_Result note_header(void *cls, enum MHD_ValueKind kind, const char *name,
				   size_t name_size, const char *value, size_t value_size)
{
	struct frame *frame = cls;

	(void)kind;
	frame->odd |= !is_token(name, name_size) || (value && has_break(value, value_size));
	frame->odd |= begins(name, name_size, "Content-Length") ||
		      begins(name, name_size, "Transfer-Encoding");
	if (is(name, name_size, "Host"))
		frame->hosts++;
	if (is(name, name_size, "Content-Length"))
		frame->lengths++;
	if (is(name, name_size, "Transfer-Encoding")) {
		frame->codings++;
		frame->chunked = value && is(value, value_size, "chunked");
	}
	return MHD_YES;
}

const char *bj_frame_fault(const struct bj_mhd *mhd, struct MHD_Connection *connection,
			   const char *version)
{
	const bool old = strcmp(version, "HTTP/1.0") == 0;
	struct frame frame = { 0 };

	mhd->headers(connection, MHD_HEADER_KIND, note_header, &frame);
	if (frame.odd)
		return "a header has a name or a value that no header may have";
	if (frame.hosts > 1 || (frame.hosts == 0 && !old))
		return "send one Host header";
	if (frame.lengths > 1)
		return "send one Content-Length header";
	if (frame.codings > 1 || (frame.codings == 1 && !frame.chunked))
		return "send no Transfer-Encoding but chunked";
	if (frame.codings == 1 && (frame.lengths == 1 || old))
		return "send Content-Length or Transfer-Encoding, not both";
	return NULL;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

size_t bj_frame_unescape(void *cls, struct MHD_Connection *connection, char *text)
{
	char *to = text;

	(void)cls, (void)connection;
	for (const char *p = text; *p; to++) {
		const int high = *p == '%' ? digit(p[1]) : -1;
		const int low = high < 0 ? -1 : digit(p[2]);

		/* The text ends where a NUL stands. */
		if (low < 0 || (high == 0 && low == 0)) {
			*to = *p++;
		} else {
			*to = (char)(high << 4 | low);
			p += 3;
		}
	}
	*to = '\0';
	return (size_t)(to - text);
}
