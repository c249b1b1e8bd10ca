/* SPDX-License-Identifier: Apache-2.0 */

/* The compiled filters read instruction by instruction, for what no kernel of today can show:
 * numbers that it does not have, and architectures that it cannot run. DS-SEC. */

#include "program.h"

#include "base/cleanup.h"
#include "seccomp/profile.h"

#include <errno.h>
#include <sys/syscall.h>

/* No profile gives a call away that was made after the floor was written. */
static void numbers_of_the_future_do_not_exist(void **state)
{
	(void)state;
	for (int number = 470; number <= 639; number++) {
		assert_int_equal(answer_to(&bj_filter_floor, NATIVE, number),
				 SECCOMP_RET_ERRNO | ENOSYS);
		assert_int_equal(answer_to(&bj_filter_jar, NATIVE, number),
				 SECCOMP_RET_ERRNO | ENOSYS);
	}
	assert_int_equal(answer_to(&bj_filter_jar, NATIVE, 5000), SECCOMP_RET_ERRNO | EPERM);
}

static void every_filter_kills_other_architectures(void **state)
{
	static const uint32_t OTHERS[] = { 0, AUDIT_ARCH_I386, AUDIT_ARCH_ARM,
					   AUDIT_ARCH_X86_64 ^ AUDIT_ARCH_AARCH64 ^ NATIVE,
					   AUDIT_ARCH_RISCV64 };
	const struct bj_filter *const filters[] = { &bj_filter_floor,   &bj_filter_jar,
						    &bj_filter_init,    &bj_filter_collect,
						    &bj_filter_import,  &bj_filter_front,
						    &bj_filter_launcher };

	(void)state;
	for (size_t f = 0; f < sizeof(filters) / sizeof(filters[0]); f++) {
		assert_int_equal(answer_to(filters[f], NATIVE, SYS_exit_group), SECCOMP_RET_ALLOW);
		for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++)
			assert_int_equal(answer_to(filters[f], OTHERS[i], SYS_exit_group),
					 SECCOMP_RET_KILL_PROCESS);
#ifdef __x86_64__
		for (int number = 0; number < 600; number++)
			assert_int_equal(answer_to(filters[f], NATIVE, 0x40000000 | number),
					 SECCOMP_RET_KILL_PROCESS);
#endif
	}
}

/* What belljar's own processes are refused, and what they need. */
static void our_own_processes_cannot_do_everything(void **state)
{
	static const int never[] = { SYS_ptrace,
				     SYS_process_vm_writev,
				     SYS_bpf,
				     SYS_keyctl,
				     SYS_io_uring_setup,
				     SYS_init_module,
				     SYS_kexec_load,
				     SYS_reboot,
				     SYS_open_by_handle_at,
				     SYS_perf_event_open,
				     SYS_pidfd_getfd,
				     SYS_swapon };
	static const int making[] = { SYS_mount, SYS_unshare, SYS_setns, SYS_pivot_root,
				      SYS_open_tree };
	static const int usual[] = { SYS_read,  SYS_openat, SYS_memfd_create, SYS_sendmsg,
				     SYS_clone, SYS_execve, SYS_unlinkat };

	(void)state;
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		assert_int_equal(answer_to(&bj_filter_front, NATIVE, never[i]),
				 SECCOMP_RET_ERRNO | EPERM);
		assert_int_equal(answer_to(&bj_filter_launcher, NATIVE, never[i]),
				 SECCOMP_RET_ERRNO | EPERM);
	}
	for (size_t i = 0; i < sizeof(making) / sizeof(making[0]); i++) {
		assert_int_equal(answer_to(&bj_filter_front, NATIVE, making[i]),
				 SECCOMP_RET_ERRNO | EPERM);
		assert_int_equal(answer_to(&bj_filter_launcher, NATIVE, making[i]),
				 SECCOMP_RET_ALLOW);
	}
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		assert_int_equal(answer_to(&bj_filter_front, NATIVE, usual[i]), SECCOMP_RET_ALLOW);
		assert_int_equal(answer_to(&bj_filter_launcher, NATIVE, usual[i]),
				 SECCOMP_RET_ALLOW);
	}
	assert_int_equal(answer_to(&bj_filter_front, NATIVE, SYS_clone3),
			 SECCOMP_RET_ERRNO | ENOSYS);
	assert_int_equal(answer_to(&bj_filter_launcher, NATIVE, SYS_clone3), SECCOMP_RET_ALLOW);
}

/* The small filters allow a handful of calls and nothing that makes something new. */
static void small_filters_are_small(void **state)
{
	const struct bj_filter *const filters[] = { &bj_filter_init, &bj_filter_collect };

	(void)state;
	for (size_t f = 0; f < sizeof(filters) / sizeof(filters[0]); f++) {
		int allowed = 0;

		for (int number = 0; number < 1000; number++) {
			const uint32_t r = answer_to(filters[f], NATIVE, number);

			assert_true(r == SECCOMP_RET_ALLOW || r == SECCOMP_RET_KILL_PROCESS);
			allowed += r == SECCOMP_RET_ALLOW;
		}
		assert_true(allowed < 25);
		assert_int_equal(answer_to(filters[f], NATIVE, SYS_execve),
				 SECCOMP_RET_KILL_PROCESS);
		assert_int_equal(answer_to(filters[f], NATIVE, SYS_clone),
				 SECCOMP_RET_KILL_PROCESS);
	}

	/* Executable memory is not for the collector. */
	const struct seccomp_data map = { .nr = SYS_mmap, .arch = NATIVE, .args = { 0, 4096, 5 } };

	assert_int_equal(answer(&bj_filter_collect, &map), SECCOMP_RET_KILL_PROCESS);
}

/* Whether @filter has another answer than refusal for the call @number, whatever its arguments. */
static bool may_work(const struct bj_filter *filter, int number)
{
	static const uint64_t values[] = { 0, 1, 2, 8, UINT64_MAX };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const uint64_t v = values[i];
		const struct seccomp_data data = { .nr = number,
						   .arch = NATIVE,
						   .args = { v, v, v, v, v, v } };

		if (answer(filter, &data) == SECCOMP_RET_ALLOW)
			return true;
	}
	return false;
}

/* An engine of Docker takes one profile, ours without the floor: whole calls that the floor refuses
 * are refused there, too. */
static void the_default_alone_refuses_what_the_floor_does(void **state)
{
	AUTO_BUF struct bj_buf code = { 0 };
	struct bj_err err = { 0 };

	(void)state;
	assert_int_equal(
		bj_profile_compile_file(UNIT_DIR "/../../profiles/default.json", &code, &err), 0);

	const struct bj_filter alone = { code.data, code.size };

	for (int number = 0; number < 640; number++)
		if (!may_work(&bj_filter_floor, number) && may_work(&alone, number))
			fail_msg("call %d", number);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_the_future_do_not_exist),
		cmocka_unit_test(every_filter_kills_other_architectures),
		cmocka_unit_test(our_own_processes_cannot_do_everything),
		cmocka_unit_test(small_filters_are_small),
		cmocka_unit_test(the_default_alone_refuses_what_the_floor_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
