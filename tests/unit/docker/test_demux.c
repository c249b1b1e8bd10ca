/* SPDX-License-Identifier: Apache-2.0 */

/* SX-DOCKER: the streams of a container come apart right, wherever the network cuts them. */

#include "unit.h"

#include "base/buf.h"
#include "docker/demux.h"
#include "docker/records.h"

#include <string.h>

static void add_frame(struct bj_buf *buf, int stream, const void *data, size_t size)
{
	const unsigned char head[] = { (unsigned char)stream,
				       0,
				       0,
				       0,
				       (unsigned char)(size >> 24),
				       (unsigned char)(size >> 16),
				       (unsigned char)(size >> 8),
				       (unsigned char)size };

	bj_buf_add(buf, head, sizeof(head));
	bj_buf_add(buf, data, size);
}

struct got {
	struct bj_buf out[3];
	int verdicts, ends;
	struct bj_buf pack;
};

static void got_done(struct got *got)
{
	for (int i = 0; i < 3; i++)
		bj_buf_done(&got->out[i]);
	bj_buf_done(&got->pack);
}

/* Feed @buf in pieces of @step bytes through the frames. */
static int feed(const struct bj_buf *buf, size_t step, struct got *got)
{
	struct bj_demux demux = { 0 };
	struct bj_demux_piece piece;

	for (size_t at = 0; at < buf->size;) {
		const size_t n = buf->size - at < step ? buf->size - at : step;
		const ssize_t used = bj_demux_next(&demux, buf->data + at, n, &piece);

		if (used < 0)
			return (int)used;
		assert_true(used > 0 && (size_t)used <= n);
		bj_buf_add(&got->out[piece.stream], piece.data, piece.size);
		at += (size_t)used;
	}
	return 0;
}

static void frames_split_at_any_border(void **state)
{
	AUTO_BUF struct bj_buf buf = { 0 };
	char big[3000];

	(void)state;
	memset(big, 'x', sizeof(big));
	add_frame(&buf, 1, "hello", 5);
	add_frame(&buf, 2, "oops", 4);
	add_frame(&buf, 1, "", 0);
	add_frame(&buf, 2, big, sizeof(big));
	add_frame(&buf, 1, " world", 6);
	for (size_t step = 1; step <= buf.size; step++) {
		struct got got = { 0 };

		assert_int_equal(feed(&buf, step, &got), 0);
		assert_int_equal(got.out[1].size, 11);
		assert_memory_equal(got.out[1].data, "hello world", 11);
		assert_int_equal(got.out[2].size, 4 + sizeof(big));
		got_done(&got);
	}
}

static void a_stream_without_frames_is_refused(void **state)
{
	AUTO_BUF struct bj_buf buf = { 0 };
	struct got got = { 0 };

	(void)state;
	bj_buf_puts(&buf, "HTTP/1.1 500 oh no");
	assert_int_equal(feed(&buf, 7, &got), -BJ_E_PROTOCOL);
	got_done(&got);
}

/* --- records ---------------------------------------------------------------------------------- */

static void feed_records(const unsigned char *nonce, const struct bj_buf *buf, size_t step,
			 struct got *got)
{
	struct bj_records records;
	struct bj_records_piece piece;

	bj_records_init(&records, nonce, true);
	for (size_t at = 0; at < buf->size;) {
		const size_t n = buf->size - at < step ? buf->size - at : step;
		const size_t used = bj_records_next(&records, buf->data + at, n, &piece);

		assert_true(used <= n);
		assert_true(used > 0 || piece.size > 0 || records.past_verdict);
		got->verdicts += piece.part == BJ_PART_VERDICT;
		got->ends += piece.part == BJ_PART_END;
		if (piece.part == BJ_PART_OUTPUT)
			bj_buf_add(&got->out[1], piece.data, piece.size);
		if (piece.part == BJ_PART_PACK)
			bj_buf_add(&got->pack, piece.data, piece.size);
		at += used;
	}
	bj_records_finish(&records, &piece);
	bj_buf_add(&got->out[1], piece.data, piece.size);
}

static void records_split_at_any_border(void **state)
{
	unsigned char nonce[BJ_INSIDE_NONCE];
	struct bj_wire_verdict verdict = { .kind = BJ_VERDICT_OK };
	struct bj_inside_end end = { .wait_status = 256 };
	AUTO_BUF struct bj_buf buf = { 0 };

	(void)state;
	assert_true(bj_records_nonce(nonce));
	memcpy(end.nonce, nonce, sizeof(nonce));
	bj_buf_add(&buf, &verdict, sizeof(verdict));
	bj_buf_puts(&buf, "out");
	bj_buf_add(&buf, nonce, 9); /* looks like an end, and is none */
	bj_buf_add(&buf, nonce, 1);
	bj_buf_puts(&buf, "put");
	bj_buf_add(&buf, &end, sizeof(end));
	bj_buf_puts(&buf, "PACK");
	for (size_t step = 1; step <= buf.size; step++) {
		struct got got = { 0 };

		feed_records(nonce, &buf, step, &got);
		assert_int_equal(got.verdicts, 1);
		assert_int_equal(got.ends, 1);
		assert_int_equal(got.out[1].size, 3 + 9 + 1 + 3);
		assert_memory_equal(got.out[1].data + 13, "put", 3);
		assert_int_equal(got.pack.size, 4);
		got_done(&got);
	}
}

static void an_end_without_verdict_is_an_end(void **state)
{
	unsigned char nonce[BJ_INSIDE_NONCE];
	struct bj_inside_end end = { 0 };
	AUTO_BUF struct bj_buf buf = { 0 };

	(void)state;
	assert_true(bj_records_nonce(nonce));
	memcpy(end.nonce, nonce, sizeof(nonce));
	bj_buf_add(&buf, &end, sizeof(end));
	for (size_t step = 1; step <= buf.size; step++) {
		struct got got = { 0 };

		feed_records(nonce, &buf, step, &got);
		assert_int_equal(got.verdicts, 0);
		assert_int_equal(got.ends, 1);
		assert_int_equal(got.out[1].size, 0);
		got_done(&got);
	}
}

/* What a script writes is never taken for an end: it does not know the nonce. */
static void a_forged_end_is_output(void **state)
{
	unsigned char nonce[BJ_INSIDE_NONCE], other[BJ_INSIDE_NONCE];
	struct bj_wire_verdict verdict = { .kind = BJ_VERDICT_OK };
	struct bj_inside_end end = { 0 };
	AUTO_BUF struct bj_buf buf = { 0 };
	struct got got = { 0 };

	(void)state;
	assert_true(bj_records_nonce(nonce) && bj_records_nonce(other));
	memcpy(end.nonce, other, sizeof(other));
	bj_buf_add(&buf, &verdict, sizeof(verdict));
	bj_buf_add(&buf, &end, sizeof(end));
	bj_buf_add(&buf, &verdict, sizeof(verdict));
	feed_records(nonce, &buf, 100, &got);
	assert_int_equal(got.verdicts, 1);
	assert_int_equal(got.ends, 0);
	assert_int_equal(got.out[1].size, sizeof(end) + sizeof(verdict));
	got_done(&got);
}

/* Output that ends like a nonce begins is not lost. */
static void held_bytes_come_out_at_the_end(void **state)
{
	unsigned char nonce[BJ_INSIDE_NONCE];
	struct bj_wire_verdict verdict = { .kind = BJ_VERDICT_OK };
	AUTO_BUF struct bj_buf buf = { 0 };
	struct got got = { 0 };

	(void)state;
	assert_true(bj_records_nonce(nonce));
	bj_buf_add(&buf, &verdict, sizeof(verdict));
	bj_buf_add(&buf, nonce, 3);
	feed_records(nonce, &buf, 4096, &got);
	assert_int_equal(got.out[1].size, 3);
	got_done(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_split_at_any_border),
		cmocka_unit_test(a_stream_without_frames_is_refused),
		cmocka_unit_test(records_split_at_any_border),
		cmocka_unit_test(an_end_without_verdict_is_an_end),
		cmocka_unit_test(a_forged_end_is_output),
		cmocka_unit_test(held_bytes_come_out_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
