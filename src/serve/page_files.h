/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The files of the page, as tools/embed writes them. */
#define BJ_PAGE_FILE(name)                                                                         \
	extern const char bj_page_##name[];                                                        \
	extern const unsigned long bj_page_##name##_size;                                          \
	extern const char bj_page_##name##_gz[];                                                   \
	extern const unsigned long bj_page_##name##_gz_size

BJ_PAGE_FILE(html);
BJ_PAGE_FILE(js);
BJ_PAGE_FILE(css);
BJ_PAGE_FILE(icon);
