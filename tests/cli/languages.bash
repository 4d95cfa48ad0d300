# SPDX-License-Identifier: GPL-2.0-or-later
# Programs in Rust and in Go with C: the same work, whether tracked from the start or attached to. The test adds the main function.

# rust_victim <MAIN: $T/v, in Rust, in which work() gives 5000. A skip where that does not build.
rust_victim() {
	need rustc
	{ cat <<-'END'; cat; } >"$T/v.rs"
	#[inline(never)]
	fn kept(n: usize) -> Box<[u8]> { vec![7u8; n].into_boxed_slice() }
	#[inline(never)]
	fn dropped(n: usize) -> usize { let v: Vec<u64> = (0..n as u64).collect(); v.len() }
	fn work() -> usize {
	    let t = std::thread::spawn(|| (0..100).map(|_| dropped(50)).sum::<usize>());
	    for _ in 0..25 { std::mem::forget(kept(321)); }
	    t.join().unwrap()
	}
	END
	rustc -C opt-level=1 -g -o "$T/v" "$T/v.rs" 2>/dev/null || skip "rustc does not link here"
}

# rust_found CAPTURE: one round of work().
rust_found() {
	found "$1" site kept allocs=25 live=8025 blocks=25
	found "$1" site dropped allocs=100 frees=100 bytes=40000 live=0
}

# go_victim <MAIN: $T/v, in Go, with work(); MAIN begins with imports. A skip where that does not build.
go_victim() {
	need go gcc
	mkdir "$T/v.d"
	cat >"$T/v.d/work.go" <<-'END'
	package main

	// #include <stdlib.h>
	// static __attribute__((noinline)) void *kept(size_t n) {
	//   void *p = malloc(n); __asm__ volatile("" : : "r"(p) : "memory"); return p; }
	// static __attribute__((noinline)) void dropped(size_t n) { free(kept(n)); }
	import "C"
	import "sync"

	func work() {
	    var wg sync.WaitGroup
	    for i := 0; i < 8; i++ {
	        wg.Add(1)
	        go func() { defer wg.Done(); for k := 0; k < 50; k++ { C.kept(123); C.dropped(456) } }()
	    }
	    wg.Wait()
	}
	END
	{ echo "package main"; cat; } >"$T/v.d/main.go"
	(cd "$T/v.d" && GO111MODULE=off CGO_ENABLED=1 GOFLAGS= within go build -o "$T/v" work.go main.go) || skip "go does not build with cgo here"
}

# go_found CAPTURE: one round of work().
go_found() { found "$1" site kept allocs=800 frees=400 bytes=231600 live=49200 blocks=400; }
