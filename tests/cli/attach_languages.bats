#!/usr/bin/env bats
# pmm attach on programs in Rust and in Go with C.

load attach

@test "Rust" {
	need rustc
	cat >"$T/v.rs" <<-'END'
	use std::io::{Read, Write};
	#[inline(never)]
	fn kept(n: usize) -> Box<[u8]> { vec![7u8; n].into_boxed_slice() }
	#[inline(never)]
	fn dropped(n: usize) -> usize { let v: Vec<u64> = (0..n as u64).collect(); v.len() }
	fn say(s: &str) { let mut o = std::io::stdout(); o.write_all(s.as_bytes()).unwrap(); o.flush().unwrap(); }
	fn main() {
	    let mut b = [0u8; 1];
	    say("ready\n");
	    while std::io::stdin().read(&mut b).unwrap() == 1 {
	        if b[0] != b'g' { continue; }
	        let t = std::thread::spawn(|| (0..100).map(|_| dropped(50)).sum::<usize>());
	        for _ in 0..25 { std::mem::forget(kept(321)); }
	        say(if t.join().unwrap() == 5000 { "done\n" } else { "WRONG\n" });
	    }
	    std::process::exit(6);
	}
	END
	built_rust
	start "$T/v"
	seen_once 6
	found "$T/c.pmm" site kept allocs=25 live=8025 blocks=25
	found "$T/c.pmm" site dropped allocs=100 frees=100 bytes=40000 live=0
}

@test "Go with cgo" {
	need go gcc
	cat >"$T/v.go" <<-'END'
	package main

	// #include <stdlib.h>
	// static __attribute__((noinline)) void *kept(size_t n) {
	//   void *p = malloc(n); __asm__ volatile("" : : "r"(p) : "memory"); return p; }
	// static __attribute__((noinline)) void dropped(size_t n) { free(kept(n)); }
	import "C"
	import ("os"; "sync")

	func main() {
	    b := make([]byte, 1)
	    os.Stdout.WriteString("ready\n")
	    for n, _ := os.Stdin.Read(b); n == 1; n, _ = os.Stdin.Read(b) {
	        if b[0] != 'g' { continue }
	        var wg sync.WaitGroup
	        for i := 0; i < 8; i++ {
	            wg.Add(1)
	            go func() { defer wg.Done(); for k := 0; k < 50; k++ { C.kept(123); C.dropped(456) } }()
	        }
	        wg.Wait()
	        os.Stdout.WriteString("done\n")
	    }
	    os.Exit(5)
	}
	END
	built_go
	start "$T/v"
	seen_once 5
	found "$T/c.pmm" site kept allocs=800 frees=400 bytes=231600 live=49200 blocks=400
}
