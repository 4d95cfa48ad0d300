#!/usr/bin/env bats
# Programs in other languages: the same output and status as natively, and what they leave is found.

load lib

@test "C++" {
	same cxx_throw
	found "$CAP" site after blocks=2000
}

@test "C++ loaded by a program in C" {
	same cxx_host "$PROG/libcxx_plugin.so"
	[ "$STATUS" -eq 0 ]
	[ "$(tail -1 "$T/out")" = end ]
	check "$CAP" <<<"$(expected cxx_plugin.cc)"
}

@test "Rust" {
	need rustc
	cat >"$T/v.rs" <<-'END'
	#[inline(never)]
	fn kept(n: usize) -> Box<[u8]> { vec![7u8; n].into_boxed_slice() }
	#[inline(never)]
	fn dropped(n: usize) -> usize { let v: Vec<u64> = (0..n as u64).collect(); v.len() }
	fn main() {
	    let t = std::thread::spawn(|| (0..100).map(|_| dropped(50)).sum::<usize>());
	    for _ in 0..25 { std::mem::forget(kept(321)); }
	    println!("{}", t.join().unwrap());
	    std::process::exit(6);
	}
	END
	built_rust
	same "$T/v"
	[ "$STATUS" -eq 6 ]
	found "$CAP" site kept allocs=25 live=8025 blocks=25
	found "$CAP" site dropped allocs=100 frees=100 bytes=40000 live=0
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
	import ("fmt"; "os"; "sync")

	func main() {
	    var wg sync.WaitGroup
	    for i := 0; i < 8; i++ {
	        wg.Add(1)
	        go func() { defer wg.Done(); for k := 0; k < 50; k++ { C.kept(123); C.dropped(456) } }()
	    }
	    wg.Wait()
	    fmt.Println("done")
	    os.Exit(5)
	}
	END
	built_go
	same "$T/v"
	[ "$STATUS" -eq 5 ]
	found "$CAP" site kept allocs=800 frees=400 bytes=231600 live=49200 blocks=400
}

@test "Python" {
	need python3
	export PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1
	cat >"$T/v.py" <<-'END'
	import ctypes, json, sys
	libc = ctypes.CDLL(None)
	libc.malloc.restype = ctypes.c_void_p
	for i in range(40):
	    libc.malloc(ctypes.c_size_t(12345))
	data = json.loads(json.dumps([{"n": i, "s": "x" * (i % 50)} for i in range(5000)]))
	print(len(data), sum(d["n"] for d in data))
	sys.exit(9)
	END
	same "$(python3 -c 'import sys; print(sys.executable)')" "$T/v.py"
	[ "$STATUS" -eq 9 ]
	[ "$(sized "$CAP" 12345)" -eq 40 ]
}

@test "Perl" {
	need perl
	same perl -e 'my %h; $h{$_ % 977} .= "x" x ($_ % 13) for 1..50000; my $n = 0;
		$n += length for values %h; print "$n\n"; exit 7'
	[ "$STATUS" -eq 7 ]
	[ "$(fact "$CAP" total allocs)" -gt 1000 ]
}

@test "Java" {
	need java javac
	cat >"$T/V.java" <<-'END'
	public class V {
	    public static void main(String[] a) throws Exception {
	        Thread[] t = new Thread[4];
	        long[] sum = new long[4];
	        for (int i = 0; i < 4; i++) {
	            final int n = i;
	            t[i] = new Thread(() -> {
	                for (int k = 0; k < 200000; k++) sum[n] += new byte[k % 97].length;
	            });
	            t[i].start();
	        }
	        for (Thread x : t) x.join();
	        java.nio.ByteBuffer b = java.nio.ByteBuffer.allocateDirect(7654321);
	        System.out.println(sum[0] + sum[3] + b.capacity());
	        System.exit(8);
	    }
	}
	END
	javac -d "$T" "$T/V.java" || skip "javac does not work here"
	same java -Xmx64m -Xshare:auto -cp "$T" V
	[ "$STATUS" -eq 8 ]
	[ "$(sized "$CAP" 7654321 7658417)" -eq 1 ]
}

@test "shell" {
	same bash -c 'for i in 1 2 3; do echo "$(echo "$i" | tr 1 9)"; done; exit 4'
	[ "$STATUS" -eq 4 ]
}
