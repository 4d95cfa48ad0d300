/* SPDX-License-Identifier: GPL-2.0-or-later */ /* A word that leave_exit.c leaves in frames and leave_driver.c counts: xor with a small number. */
#ifndef LEAVE_MARK_H
#define LEAVE_MARK_H

#define LEAVE_MARK	0x5ca1ab1e0ddba110ull
#define LEAVE_MARKS	8u

#endif
