/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Be the init of a jar, for ever: hold its namespaces open and be the parent of orphans, which the
 * kernel reaps because SIGCHLD is ignored. Capabilities are gone and signals blocked before. Needs
 * no C library. */
__attribute__((noreturn)) void bj_hold(void);
