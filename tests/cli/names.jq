# SPDX-License-Identifier: GPL-2.0-or-later
# The report's keys under the short names that the victims' comments use. The only place that knows
# the schema.

# A function's own name: without arguments, scope, or Rust's hash.
def plain: sub("\\(.*"; "") | sub("::h[0-9a-f]{16}$"; "") | sub(".*::"; "");
def names: [.frames[] | .function // "" | plain];

def sum(f): map(f) | add // 0;
def sums: {
	allocs: sum(.allocs), frees: sum(.frees), bytes: sum(.allocated_bytes),
	live: sum(.live_bytes), blocks: sum(.live_blocks), peak: sum(.peak_bytes),
	peak_blocks: sum(.peak_blocks), temporary: sum(.temporary), max: (map(.max_bytes) | max // 0),
	failed: sum(.failed), zero: sum(.zero_size), huge: sum(.huge)
};

def sites: .sites;
def map_sites: .map_sites;
def exe: .process.exe;
def allocator_path: .allocator.path;
def sample_bytes: .totals.sample_bytes;
def blocks: [.blocks[] | {address, size: .size_bytes, kind: .entry}];

def total: .totals + {
	bytes: .totals.allocated_bytes, live: .totals.live_bytes, blocks: .totals.live_blocks,
	peak: .totals.peak_bytes, zero: .totals.zero_size, untracked: .totals.untracked_frees,
	skipped: .totals.skipped_allocs,
	dropped: ([.warnings[] | select(.code | endswith("_dropped")) | .count] | add // 0)
};

def classes: [.size_classes[] | {
	malloc, calloc, realloc, frees: .free, failed,
	bytes: .allocated_bytes, freed: .freed_bytes, live: .in_use_bytes
}];

def threads: [.threads[] | {name, allocs, frees, bytes: .allocated_bytes}];

def mapping: .mapping + {
	mremap_grown: .mapping.mremap_grown_bytes, mremap_shrunk: .mapping.mremap_shrunk_bytes,
	brk_growth: .mapping.brk_growth_bytes, brk_peak: .mapping.brk_peak_bytes
};
