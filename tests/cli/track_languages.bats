#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs in other languages: the same output and status as natively, and what they leave is found.

load lib
load languages

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
	rust_victim <<-'END'
	fn main() {
	    println!("{}", work());
	    std::process::exit(6);
	}
	END
	same "$T/v"
	[ "$STATUS" -eq 6 ]
	[ "$(cat "$T/out")" = 5000 ]
	rust_found "$CAP"
}

@test "Go with cgo" {
	go_victim <<-'END'
	import ("fmt"; "os")

	func main() {
	    work()
	    fmt.Println("done")
	    os.Exit(5)
	}
	END
	same "$T/v"
	[ "$STATUS" -eq 5 ]
	go_found "$CAP"
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
