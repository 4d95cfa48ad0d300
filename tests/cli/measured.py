# SPDX-License-Identifier: GPL-2.0-or-later
"""measured.py BENCH MICRO DIRECTORY: does bench/measure.py see peaks that are hard to see?"""

import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import measure    # noqa: E402

MICRO, DIRECTORY = sys.argv[2:]
LIVE_KIB, LEDGER_KIB = 5000, 65536

# The ledger grows when its first descriptor is closed and the number is another file's.
LEDGER = f"""
import os, time
first = os.memfd_create("pmm-ledger")
time.sleep(0.5)
second = os.dup(first)
os.close(first)
open(os.devnull)
for _ in range({LEDGER_KIB} >> 10):
    os.write(second, bytes(1 << 20))
time.sleep(0.5)
"""

fifo, log = f"{DIRECTORY}/live", f"{DIRECTORY}/log"
peak = measure.peak_memory([sys.executable, "-c", LEDGER], log)
print("ledger:", "seen" if peak.kib > LEDGER_KIB else f"{peak.kib} KiB")

# The program would have ended before the second look.
measure.POLL_SECONDS = 1.5
peak = measure.peak_memory([MICRO, "live", "100000", "1", fifo], log, hold=fifo)
print("live:", "seen, with PSS" if min(peak.kib, peak.pss_kib) > LIVE_KIB else f"{peak.kib} KiB, PSS {peak.pss_kib} KiB")
