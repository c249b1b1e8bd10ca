/* SPDX-License-Identifier: Apache-2.0 */

/* Theory of operation.
 *
 * A program of libseccomp loads words of the call, compares them with constants, jumps forward and
 * returns an answer. All constants of all programs cut the numbers of calls into ranges whose
 * members no program can tell apart. So each range is followed once, with its first member for the
 * number, through one program after the other. What is left are comparisons of arguments: a tree of
 * them, in which equal parts are one node. Ranges with the same tree are merged, and a search tree
 * over them, made of the same nodes, leads to each. The whole is then written from its end to its
 * start, so that every jump knows how far it goes. */

#include "seccomp/compact.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 8192, MAX_RANGES = 512, MAX_CODE = 4096, MAX_JUMP = 255, MAX_CHAIN = 4 };
enum { NUMBER = offsetof(struct seccomp_data, nr), ARCH = offsetof(struct seccomp_data, arch) };
enum { WORDS = sizeof(struct seccomp_data) / sizeof(uint32_t) };

#define NOWHERE UINT32_MAX

/* A word of the call, as a program sees it. */
struct word {
	uint32_t offset, mask;
};

/* An answer, or a comparison that leads to one of two others. Without holes: they are compared as
 * bytes. */
struct node {
	uint32_t jump; /* BPF_JEQ, BPF_JGT, BPF_JGE; 0: an answer */
	uint32_t k;    /* to compare with, or to answer */
	struct word word;
	uint32_t yes, no;
};

/* Where a node stands in the code, counted from the end. */
struct place {
	uint32_t load;   /* loads its word first */
	uint32_t loaded; /* the word is there already */
	bool wanted;     /* somebody comes with another word */
};

struct range {
	uint32_t first, last;
	uint32_t node;
};

/* The cheapest search over a row of ranges. */
struct search {
	uint32_t cost, depth;
	uint32_t split; /* range in which it is cut in two; NOWHERE: a chain */
	bool shared;    /* that range is on both sides */
};

struct work {
	const struct bj_buf *codes;
	size_t n_codes;
	const struct bj_compact_part *part; /* NULL: the whole */
	struct bj_err *err;
	bool failed;
	uint32_t number, arch;
	bool known[WORDS]; /* words that are equal to... */
	uint32_t value[WORDS];
	struct node nodes[MAX_NODES];
	uint32_t n_nodes;
	struct range ranges[MAX_RANGES];
	uint32_t n_ranges;
	struct search search[MAX_RANGES][MAX_RANGES];
	struct place places[MAX_NODES];
	struct sock_filter code[MAX_CODE]; /* backwards */
	uint32_t n_code;
};

static uint32_t fail(struct work *w, const char *why)
{
	if (!w->failed)
		bj_err_set(w->err, BJ_E_INVALID, 0, "cannot compact a filter: %s", why);
	w->failed = true;
	return 0;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static uint32_t make_node(struct work *w, const struct node *node)
{
	for (uint32_t i = 0; i < w->n_nodes; i++)
		if (memcmp(&w->nodes[i], node, sizeof(*node)) == 0)
			return i;
	if (w->n_nodes == MAX_NODES)
		return fail(w, "too many conditions");
	memcpy(&w->nodes[w->n_nodes], node, sizeof(*node));
	return w->n_nodes++;
}

static uint32_t make_answer(struct work *w, uint32_t k)
{
	struct node node;

	memset(&node, 0, sizeof(node)); /* nodes are compared as bytes */
	node.k = k;
	return make_node(w, &node);
}

static uint32_t make_branch(struct work *w, struct word word, uint32_t jump, uint32_t k,
			    uint32_t yes, uint32_t no)
{
	struct node node;

	if (yes == no)
		return yes;
	memset(&node, 0, sizeof(node));
	node.jump = jump;
	node.k = k;
	node.word = word;
	node.yes = yes;
	node.no = no;
	return make_node(w, &node);
}

/* --- following programs ----------------------------------------------------------------------- */

static bool compare(uint32_t jump, uint32_t a, uint32_t k)
{
	return jump == BPF_JEQ ? a == k : jump == BPF_JGT ? a > k : a >= k;
}

/* The kernel asks the last program first, and later ones must be stricter to count. */
static uint32_t strictest(uint32_t sooner, uint32_t later)
{
	const int32_t a = (int32_t)(sooner & SECCOMP_RET_ACTION_FULL);
	const int32_t b = (int32_t)(later & SECCOMP_RET_ACTION_FULL);

	return b < a ? later : sooner;
}

static const struct sock_filter *program(const struct work *w, size_t which, size_t *ret_size)
{
	*ret_size = w->codes[which].size / sizeof(struct sock_filter);
	return (const struct sock_filter *)w->codes[which].data;
}

static uint32_t follow(struct work *w, size_t which, size_t pc, struct word a, uint32_t answer);

/* Both ways of a comparison whose outcome the arguments decide. */
static uint32_t fork_here(struct work *w, size_t which, size_t pc, struct word a, uint32_t answer)
{
	size_t size;
	const struct sock_filter *op = &program(w, which, &size)[pc];
	const uint32_t jump = BPF_OP(op->code);
	const uint32_t at = a.offset / (uint32_t)sizeof(uint32_t);
	const bool equal = jump == BPF_JEQ && a.mask == UINT32_MAX;

	if (equal) {
		w->known[at] = true;
		w->value[at] = op->k;
	}

	const uint32_t yes = follow(w, which, pc + 1 + op->jt, a, answer);

	if (equal)
		w->known[at] = false;

	const uint32_t no = follow(w, which, pc + 1 + op->jf, a, answer);

	return make_branch(w, a, jump, op->k, yes, no);
}

/* What the rest of program @which from @pc on, and of those loaded before it, comes to. */
static uint32_t follow(struct work *w, size_t which, size_t pc, struct word a, uint32_t answer)
{
	size_t size;
	const struct sock_filter *code = program(w, which, &size);

	while (!w->failed && pc < size) {
		const struct sock_filter *op = &code[pc];
		const uint32_t at = a.offset / (uint32_t)sizeof(uint32_t);

		switch (op->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (op->k % sizeof(uint32_t) || op->k >= sizeof(struct seccomp_data))
				return fail(w, "a load from nowhere");
			a = (struct word){ op->k, UINT32_MAX };
			pc++;
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a.mask &= op->k;
			pc++;
			break;
		case BPF_JMP | BPF_JA:
			pc += 1 + (size_t)op->k;
			break;
		case BPF_RET | BPF_K:
			answer = strictest(answer, op->k);
			if (which == 0)
				return make_answer(w, answer);
			code = program(w, --which, &size);
			pc = 0;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
		case BPF_JMP | BPF_JGT | BPF_K:
		case BPF_JMP | BPF_JGE | BPF_K:
			if (!w->known[at])
				return fork_here(w, which, pc, a, answer);
			pc += 1 + (compare(BPF_OP(op->code), w->value[at] & a.mask, op->k)
					   ? op->jt
					   : op->jf);
			break;
		default:
			return fail(w, "an instruction that libseccomp does not write");
		}
		/* Ranges are right for whole numbers only. */
		if ((a.offset == NUMBER || a.offset == ARCH) && a.mask != UINT32_MAX)
			return fail(w, "a part of a number is compared");
	}
	return fail(w, "a program has no end");
}

static uint32_t follow_all(struct work *w, uint32_t arch, uint32_t number)
{
	const struct word none = { NUMBER, UINT32_MAX };

	memset(w->known, 0, sizeof(w->known));
	w->known[NUMBER / sizeof(uint32_t)] = w->known[ARCH / sizeof(uint32_t)] = true;
	w->value[NUMBER / sizeof(uint32_t)] = number;
	w->value[ARCH / sizeof(uint32_t)] = arch;
	return follow(w, w->n_codes - 1, 0, none, SECCOMP_RET_ALLOW);
}

/* --- ranges ----------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Where a comparison may begin to have another outcome. The caller frees *@ret. */
static size_t find_cuts(struct work *w, uint32_t **ret)
{
	size_t n = 0, size, total = 1 + 2 * (size_t)BJ_COMPACT_NUMBERS;

	for (size_t c = 0; c < w->n_codes; c++)
		total += 2 * w->codes[c].size / sizeof(struct sock_filter);

	uint32_t *cuts = calloc(total, sizeof(*cuts));

	if (!cuts)
		abort();
	cuts[n++] = 0;
	for (size_t i = 0; w->part && i < w->part->n; i++) {
		cuts[n++] = w->part->numbers[i];
		cuts[n++] = w->part->numbers[i] + 1;
	}
	for (size_t c = 0; c < w->n_codes; c++) {
		const struct sock_filter *code = program(w, c, &size);

		for (size_t i = 0; i < size; i++)
			if (BPF_CLASS(code[i].code) == BPF_JMP && BPF_OP(code[i].code) != BPF_JA) {
				cuts[n++] = code[i].k;
				cuts[n++] = code[i].k + 1;
			}
	}
	qsort(cuts, n, sizeof(*cuts), by_size);
	*ret = cuts;
	return n;
}

static void add_range(struct work *w, uint32_t first, uint32_t last, uint32_t node)
{
	struct range *before = w->n_ranges > 0 ? &w->ranges[w->n_ranges - 1] : NULL;

	if (before && before->node == node)
		before->last = last;
	else if (w->n_ranges == MAX_RANGES)
		fail(w, "too many ranges");
	else
		w->ranges[w->n_ranges++] = (struct range){ first, last, node };
}

/* The search tree must not have to ask for the architecture more than once. */
static void check_others(struct work *w, uint32_t arch, const uint32_t *cuts, size_t n)
{
	const uint32_t killed = make_answer(w, SECCOMP_RET_KILL_PROCESS);

	for (size_t i = 0; i < n && !w->failed; i++)
		for (size_t j = 0; cuts[i] != arch && j < n && !w->failed; j++)
			if (follow_all(w, cuts[i], cuts[j]) != killed)
				fail(w, "it lets another architecture live");
}

/* Whether the other part answers for @number. */
static bool is_left_out(const struct work *w, uint32_t number)
{
	bool named = false;

	for (size_t i = 0; w->part && i < w->part->n; i++)
		named |= w->part->numbers[i] == number;
	return w->part && named == w->part->others;
}

static void find_ranges(struct work *w, uint32_t arch)
{
	uint32_t *cuts = NULL;
	const size_t n = find_cuts(w, &cuts);

	check_others(w, arch, cuts, n);
	for (size_t i = 0; i < n && !w->failed; i++) {
		if (i > 0 && cuts[i] == cuts[i - 1])
			continue;

		size_t next = i + 1;

		while (next < n && cuts[next] == cuts[i])
			next++;
		add_range(w, cuts[i], next < n ? cuts[next] - 1 : UINT32_MAX,
			  is_left_out(w, cuts[i]) ? make_answer(w, SECCOMP_RET_ALLOW)
						  : follow_all(w, arch, cuts[i]));
	}
	free(cuts);
}

/* --- searching -------------------------------------------------------------------------------- */

/* A few single numbers within one range: ask for each of them. */
static bool is_chain(const struct work *w, uint32_t lo, uint32_t hi)
{
	if ((hi - lo) % 2 != 0 || (hi - lo) / 2 > MAX_CHAIN)
		return false;
	for (uint32_t i = lo; i <= hi; i++)
		if ((i - lo) % 2 == 0 ? w->ranges[i].node != w->ranges[lo].node
				      : w->ranges[i].first != w->ranges[i].last)
			return false;
	return true;
}

static void try_split(struct work *w, uint32_t lo, uint32_t hi, uint32_t at, bool shared)
{
	struct search *best = &w->search[lo][hi];
	const struct search *left = &w->search[lo][shared ? at : at - 1];
	const struct search *right = &w->search[at][hi];
	const uint32_t cost = 1 + left->cost + right->cost;
	const uint32_t depth = 1 + (left->depth > right->depth ? left->depth : right->depth);

	if (cost < best->cost || (cost == best->cost && depth < best->depth))
		*best = (struct search){ cost, depth, at, shared };
}

static void plan_search(struct work *w, uint32_t lo, uint32_t hi)
{
	struct search *best = &w->search[lo][hi];

	*best = (struct search){ UINT32_MAX, UINT32_MAX, NOWHERE, false };
	if (is_chain(w, lo, hi)) {
		best->cost = best->depth = (hi - lo) / 2;
		return;
	}
	for (uint32_t at = lo + 1; at <= hi; at++) {
		try_split(w, lo, hi, at, false);
		if (at < hi && w->ranges[at].first != w->ranges[at].last)
			try_split(w, lo, hi, at, true);
	}
}

static void plan_all(struct work *w)
{
	for (uint32_t length = 0; length < w->n_ranges; length++)
		for (uint32_t lo = 0; lo + length < w->n_ranges; lo++)
			plan_search(w, lo, lo + length);
}

static uint32_t build_search(struct work *w, uint32_t lo, uint32_t hi)
{
	const struct word number = { NUMBER, UINT32_MAX };
	const struct search *s = &w->search[lo][hi];

	if (s->split != NOWHERE) {
		const uint32_t no = build_search(w, lo, s->shared ? s->split : s->split - 1);
		const uint32_t yes = build_search(w, s->split, hi);

		return make_branch(w, number, BPF_JGE, w->ranges[s->split].first + s->shared, yes,
				   no);
	}

	uint32_t node = w->ranges[lo].node;

	for (uint32_t i = lo + 1; i < hi; i += 2)
		node = make_branch(w, number, BPF_JEQ, w->ranges[i].first, w->ranges[i].node, node);
	return node;
}

/* --- writing ---------------------------------------------------------------------------------- */

static uint32_t put(struct work *w, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
	if (w->n_code == MAX_CODE)
		return fail(w, "too long");
	w->code[w->n_code] = (struct sock_filter){ code, jt, jf, k };
	return w->n_code++;
}

/* How far a jump that is written next would go. */
static uint32_t distance(const struct work *w, uint32_t to)
{
	return w->n_code - to - 1;
}

/* Whether @node can take @word as it was loaded for another. */
static bool takes(const struct node *node, struct word word)
{
	return node->jump && node->word.offset == word.offset && node->word.mask == word.mask;
}

/* Somewhere that a jump written next reaches and that does what @node does, with @word loaded. */
static uint32_t reach(struct work *w, uint32_t node, struct word word)
{
	const struct node *n = &w->nodes[node];
	struct place *p = &w->places[node];
	uint32_t *at = takes(n, word) ? &p->loaded : &p->load;

	if (distance(w, *at) <= MAX_JUMP)
		return *at;
	if (n->jump)
		return put(w, BPF_JMP | BPF_JA, 0, 0, distance(w, *at));
	*at = put(w, BPF_RET | BPF_K, 0, 0, n->k);
	return *at;
}

static void write_node(struct work *w, uint32_t node)
{
	const struct node *n = &w->nodes[node];
	struct place *p = &w->places[node];

	if (p->loaded != NOWHERE || w->failed)
		return;
	if (!n->jump) {
		p->load = p->loaded = put(w, BPF_RET | BPF_K, 0, 0, n->k);
		return;
	}
	write_node(w, n->yes);
	write_node(w, n->no);

	/* What makes one of them reachable pushes the other away: at most once. */
	uint32_t yes = reach(w, n->yes, n->word), no = reach(w, n->no, n->word);

	if (distance(w, yes) > MAX_JUMP)
		yes = reach(w, n->yes, n->word);
	p->loaded = put(w, (uint16_t)(BPF_JMP | n->jump | BPF_K), (uint8_t)distance(w, yes),
			(uint8_t)distance(w, no), n->k);
	if (!p->wanted)
		return;
	if (n->word.mask != UINT32_MAX)
		put(w, BPF_ALU | BPF_AND | BPF_K, 0, 0, n->word.mask);
	p->load = put(w, BPF_LD | BPF_W | BPF_ABS, 0, 0, n->word.offset);
}

/* The root is written last, so it is where the program starts. A node has a higher number than
 * those that it leads to. */
static void write_all(struct work *w, uint32_t root)
{
	for (uint32_t i = 0; i <= root; i++)
		w->places[i] = (struct place){ NOWHERE, NOWHERE, i == root };
	for (uint32_t i = 0; i <= root; i++) {
		const struct node *n = &w->nodes[i];

		if (!n->jump)
			continue;
		w->places[n->yes].wanted |= !takes(&w->nodes[n->yes], n->word);
		w->places[n->no].wanted |= !takes(&w->nodes[n->no], n->word);
	}
	write_node(w, root);
}

int bj_compact(const struct bj_buf *codes, size_t n, struct bj_buf *ret_code, struct bj_err *err)
{
	return bj_compact_part(codes, n, NULL, ret_code, err);
}

int bj_compact_part(const struct bj_buf *codes, size_t n, const struct bj_compact_part *part,
		    struct bj_buf *ret_code, struct bj_err *err)
{
	const struct word arch = { ARCH, UINT32_MAX };
	const uint32_t native = seccomp_arch_native();
	struct work *w = calloc(1, sizeof(*w));

	if (!w)
		abort();
	w->codes = codes;
	w->n_codes = n;
	w->part = part;
	w->err = err;
	find_ranges(w, native);
	if (!w->failed) {
		plan_all(w);
		write_all(w,
			  make_branch(w, arch, BPF_JEQ, native, build_search(w, 0, w->n_ranges - 1),
				      make_answer(w, SECCOMP_RET_KILL_PROCESS)));
	}
	while (!w->failed && w->n_code > 0)
		bj_buf_add(ret_code, &w->code[--w->n_code], sizeof(*w->code));

	const bool failed = w->failed;

	free(w);
	return failed ? -BJ_E_INVALID : 0;
}
