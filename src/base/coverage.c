/* SPDX-License-Identifier: Apache-2.0 */
#include "base/coverage.h"

#include "coverage_dir.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* From tools/coverage.ld: whole pages that hold the counters and nothing else. */
extern char bj_coverage_start[], bj_coverage_end[];

void __gcov_dump(void);

/* The counters are still zero here, so a fresh mapping replaces them without a copy. */
__attribute__((constructor(101))) static void share_counters(void)
{
	const size_t size = (uintptr_t)bj_coverage_end - (uintptr_t)bj_coverage_start;

	if (size > 0 && mmap(bj_coverage_start, size, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		abort();
}

/* The shared counters go to the files, which others write too: libgcov adds what a file holds to
 * what it finds in memory, so afterwards memory holds both and is emptied, or the next process of
 * ours would add it all once more. It writes once in a process: what it has written stays so.
 *
 * Who cannot reach the files any more, sealed off as it is, leaves the counters to the others. */
static void write_counters(void)
{
	/* Root and the ordinary users of tests add to the same files, whoever makes them. */
	umask(0);

	/* Two at once would add the same file twice. */
	const int lock =
		open(BJ_COVERAGE_DIR "/coverage.lock", O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return;
	__gcov_dump();
	memset(bj_coverage_start, 0,
	       (size_t)((uintptr_t)bj_coverage_end - (uintptr_t)bj_coverage_start));
	close(lock);
}

/* Before libgcov's own, which has nothing left to do. */
__attribute__((destructor)) static void write_at_exit(void)
{
	write_counters();
}

void bj_coverage_flush(void)
{
	write_counters();
}
