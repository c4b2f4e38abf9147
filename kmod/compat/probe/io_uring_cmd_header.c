// SPDX-License-Identifier: GPL-2.0
/* 6.8: commands of io_uring have a header of their own. */
#if !__has_include("linux/io_uring/cmd.h")
#error none
#endif
