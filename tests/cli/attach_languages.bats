#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# pmm attach on programs in Rust and in Go with C.

load attach
load languages

@test "Rust" {
	rust_victim <<-'END'
	use std::io::{Read, Write};
	fn say(s: &str) { let mut o = std::io::stdout(); o.write_all(s.as_bytes()).unwrap(); o.flush().unwrap(); }
	fn main() {
	    let mut b = [0u8; 1];
	    say("ready\n");
	    while std::io::stdin().read(&mut b).unwrap() == 1 {
	        if b[0] == b'g' { say(if work() == 5000 { "done\n" } else { "WRONG\n" }); }
	    }
	    std::process::exit(6);
	}
	END
	start "$T/v"
	seen_once 6
	rust_found "$T/c.pmm"
}

@test "Go with cgo" {
	go_victim <<-'END'
	import "os"

	func main() {
	    b := make([]byte, 1)
	    os.Stdout.WriteString("ready\n")
	    for n, _ := os.Stdin.Read(b); n == 1; n, _ = os.Stdin.Read(b) {
	        if b[0] != 'g' { continue }
	        work()
	        os.Stdout.WriteString("done\n")
	    }
	    os.Exit(5)
	}
	END
	start "$T/v"
	seen_once 5
	go_found "$T/c.pmm"
}
