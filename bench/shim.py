# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "shim": what pmm.h costs a malloc+free pair, in each form, beside the same program without it (bench_shim.c)."""

import subprocess

from figures import table, text, verdict

FORMS = {"static": ("bench_shim", 25), "full": ("bench_shim_full", 40)}    # program, ns that may be added in one thread
ONE_THREAD = ("hot", "random")


class Shim:
    name = "shim"

    def __init__(self, bench):
        self.bench, self.ns = bench, {}
        self.rounds = max(2, int(60 * bench.size))

    def jobs(self):
        for form in FORMS:
            yield f"pmm.h's {form} form", lambda f=form: self.measure(f)

    def measure(self, form):
        """Native and monitored rounds take turns within one process; the least of all runs counts."""
        out = subprocess.run([self.bench.program(FORMS[form][0]), str(self.rounds)], check=True, capture_output=True, text=True).stdout
        for line in out.splitlines():
            case, *figures = line.split()
            least = self.ns.setdefault(form, {}).setdefault(case, [float("inf")] * 2)
            self.ns[form][case] = [min(pair) for pair in zip(least, map(float, figures))]

    def results(self):
        return {"ns_per_pair": self.ns}

    def tables(self):
        yield "pmm.h: ns of CPU a malloc+free pair (least of all rounds)"
        yield table(["form, workload", "native", "monitored", "added"],
                    [[f"{form}, {case}", text(native, 1), text(monitored, 1), text(monitored - native, 1)]
                     for form, cases in self.ns.items() for case, (native, monitored) in cases.items()])
        for form, cases in self.ns.items():
            worst = max(cases[case][1] - cases[case][0] for case in ONE_THREAD)
            yield verdict(worst, FORMS[form][1], f"ns that the {form} form adds in one thread, the worst", 1)
