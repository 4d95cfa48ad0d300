# SPDX-License-Identifier: GPL-2.0-or-later
# The agent in a process that puts it into itself: each mode compares what is recorded with what the process did, and says what differs.
$ $PROG/inject_self $BUILD/libpmm_inject.so roles
$ $PROG/inject_self $BUILD/libpmm_inject.so failing
$ $PROG/inject_self $BUILD/libpmm_inject.so recursion
$ $PROG/inject_self $BUILD/libpmm_inject.so thread_end
$ $PROG/inject_self $BUILD/libpmm_inject.so handlers
$ $PROG/inject_self $BUILD/libpmm_inject.so custom
$ $PROG/inject_self $BUILD/libpmm_inject.so throwing
$ $PROG/inject_self $BUILD/libpmm_inject.so sampled
$ $PROG/inject_self $BUILD/libpmm_inject.so sampled_inner
$ $PROG/inject_self $BUILD/libpmm_inject.so gone
$ $PROG/inject_self $BUILD/libpmm_inject.so forked
$ $PROG/inject_self $BUILD/libpmm_inject.so threads
$ $PROG/inject_self $BUILD/libpmm_inject.so confined
$ $PROG/inject_self $BUILD/libpmm_inject.so again
$ $PROG/inject_self $BUILD/libpmm_inject.so refused
