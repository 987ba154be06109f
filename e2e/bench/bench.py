"""The benchmark: the same program frozen and brought back in several ways, in turns, on one machine. See bin/bench --help."""
import argparse
import functools
import os
import signal
import subprocess
import sys
import time

import migration
from engine import Engine, Tools
from machine import Scratch, adopt_orphans, facts, touch_memory
from programs import Box, Wrong
from report import Report
from ways import Ways

# A way that fails again fails always: its time is better spent.
FAILURES = 2
PARTS = ["hand", "ours", "thp", "plugin", "criu", "getstate", "two"]
# Only when asked for: bin/bench migration.
MORE = ["chain", "agents", "serial"]


def size(text):
    """48 or 48G: so many 1e9 bytes; 64M: so many MiB. Gives MiB."""
    if text.upper().endswith("M"):
        return int(text[:-1])
    return round(float(text.upper().removesuffix("G")) * 1e9 / (1 << 20))


def options():
    p = argparse.ArgumentParser(prog="bin/bench", formatter_class=argparse.RawDescriptionHelpFormatter, description=(
        "Compares the engine with the driver's calls and criu by hand, and with criu's CUDA plugin, in one run on this machine.\n"
        "As root, on a machine with NVIDIA GPUs or with a simulated one (--sim). Method: docs/design/benchmarks.md."))
    p.add_argument("--sizes", default=None, help="device memory: 48 or 48G is 48e9 bytes, 64M is 64 MiB (default 1,8,16,48; --sim: 16M,64M)")
    p.add_argument("--repeats", type=int, default=5, help="measurements of each way and size (default 5)")
    p.add_argument("--budget", type=float, default=540, metavar="SECONDS",
                   help="nothing is begun that would not end in time; big sizes then get fewer repeats (default 540)")
    p.add_argument("--only", default=",".join(PARTS), help=f"parts, with commas (default {','.join(PARTS)})")
    p.add_argument("--two", default=None, metavar="SIZE", help="device memory on each of two GPUs (default 8; --sim: 32M)")
    p.add_argument("--out", default=None, metavar="FOLDER", help="where bench.json and bench.md go (default: a new one below /tmp)")
    p.add_argument("--folder", default=None, help="where images and store lie instead of on a tmpfs of the benchmark's own")
    p.add_argument("--huge", default="always", help="huge= of that tmpfs (default always)")
    p.add_argument("--threads", type=int, default=os.cpu_count(), help="copying and hashing threads (default: all cores)")
    p.add_argument("--streams", type=int, default=migration.STREAMS, help=f"connections of a migration (default, as an agent's here: {migration.STREAMS})")
    p.add_argument("--no-resume", action="store_true",
                   help="hand, ours, thp and criu without their resume in place: more rounds of big sizes fit")
    p.add_argument("--no-touch", action="store_true", help="do not touch the memory beforehand")
    p.add_argument("--pack", metavar="FOLDER", help="run from what e2e/gpu/pack made (default: .gpu in the checkout if it is there)")
    p.add_argument("--sim", action="store_true", help="on simulated GPUs, made for this run")
    return p.parse_args()


class OutOfTime(Exception):
    """The budget is over although the next run should have fitted."""


def out_of_time(*_):
    raise OutOfTime


class Schedule:
    """What is measured next, as long as it fits. Rounds over all sizes; every second round in the opposite order."""

    def __init__(self, end, report):
        self.end, self.report, self.took, self.said, self.failed = end, report, {}, set(), {}

    def estimate(self, way, mib):
        """As long as it took before; else as at the biggest size so far, by its bytes; else as the slowest other way."""
        if (way, mib) in self.took:
            return self.took[way, mib]
        smaller = [(m, t) for (w, m), t in self.took.items() if w == way]
        if smaller:
            most, took = max(smaller)
            return took * max(1, mib / most) * 0.8 + 3
        others = [took for (_, m), took in self.took.items() if m == mib]
        return max(others, default=10 + mib / 400)

    def run(self, way, mib, action):
        left = self.end - time.monotonic()
        if self.failed.get(way, 0) >= FAILURES:
            return
        if self.estimate(way, mib) > left:
            if (way, mib) not in self.said:
                self.said.add((way, mib))
                self.report.note(f"{way} at {mib} MiB: no more runs within the budget ({left:.0f} s left, {self.estimate(way, mib):.0f} s needed)")
            return
        begin = time.monotonic()
        try:
            action()
        except (Wrong, subprocess.TimeoutExpired) as wrong:
            self.failed[way] = self.failed.get(way, 0) + 1
            last = "; not tried again" if self.failed[way] == FAILURES else ""
            self.report.note(f"{way} at {mib} MiB: not counted: {wrong}{last}")
        self.took[way, mib] = time.monotonic() - begin
        self.report.write()


def main():
    o = options()
    only = o.only.split(",")
    unknown = set(only) - set(PARTS + MORE)
    if unknown:
        sys.exit(f"bench: --only: expected some of {','.join(PARTS + MORE)}, got {','.join(sorted(unknown))}")
    end = time.monotonic() + o.budget - 15  # to tidy up
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended by SIGTERM"))
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(max(1, int(o.budget)))
    adopt_orphans()
    scratch = Scratch(o.huge, o.folder)
    engine = None
    tools = Tools(scratch.path + "/boxes")
    try:
        os.makedirs(tools.work)
        engine = Engine(tools, scratch, o.threads)
        gpus = engine.ask(60, do="gpus")
        if not gpus.get("gpus"):
            sys.exit(f"bench: expected a GPU, got none: {gpus}")
        sizes = sorted(size(s) for s in (o.sizes or ("16M,64M" if tools.simulated else "1,8,16,48")).split(","))
        two = size(o.two or ("32M" if tools.simulated else "8"))
        report = Report(o.out, facts(tools, gpus), vars(o), sizes)
        if not o.no_touch:
            # The program's copy and its image lie in memory at once.
            touched, took = touch_memory(2.3 * (max(sizes) << 20) + (4 << 30))
            report.note(f"touched {touched / 1e9:.1f} GB of memory in {took:.1f} s beforehand")
        try:
            measure(o, only, sizes, two, Ways(tools, scratch, engine, report.add, not o.no_resume), Schedule(end, report), report, len(gpus["gpus"]))
        except OutOfTime:
            report.note(f"ended after {o.budget:.0f} s in the middle of a run")
        signal.alarm(0)
        migration.tell(report, o.streams)
        report.write()
        report.print()
    finally:
        signal.alarm(0)
        for box in list(Box.made):
            box.close()
        if engine:
            engine.close()
        scratch.close()


def measure(o, only, sizes, two, ways, schedule, report, gpus):
    if "plugin" in only and not ways.tools.plugin:
        report.note("criu's CUDA plugin: not measured: it was not built (e2e/bench/build-plugin)")
        only = [part for part in only if part != "plugin"]
    if "plugin" in only and ways.tools.simulated:
        # It lets the driver's thread run with every signal blocked, and the simulated driver is woken by one.
        report.note("criu's CUDA plugin: not measured: the simulated driver never answers it")
        only = [part for part in only if part != "plugin"]
    migrations = migration.Migrations(ways, o.streams)
    if {"agents", "serial"} & set(only):
        quiet = migration.Migrations(Ways(ways.tools, ways.scratch, ways.engine, lambda measured: None), o.streams)
        schedule.run("warm-up", 64, lambda: quiet.ours(64))
    if {"ours", "thp", "criu"} & set(only):
        # Classes loaded, code compiled: as in an agent that has been running.
        quiet = Ways(ways.tools, ways.scratch, ways.engine, lambda measured: None)
        schedule.run("warm-up", 32, lambda: quiet.ours(32, "warm-up"))
    if "getstate" in only:
        def calls():
            report.calls = ways.state_calls()
        schedule.run("getstate", 64, calls)
    actions = {
        "hand": ways.hand,
        "ours": functools.partial(ways.ours, way="mover"),
        "thp": functools.partial(ways.ours, way="mover, THP always", thp=True, resume_stage="disk"),
        "plugin": ways.plugin,
        "criu": functools.partial(ways.ours, way="ours by criu", path="criu"),
        "chain": migrations.chain,
        "agents": migrations.ours,
        "serial": migrations.serial,
    }
    chosen = [(part, actions[part]) for part in actions if part in only]
    if "two" in only and gpus < 2:
        report.note(f"two GPUs: not measured: this machine has {gpus}")
    for round_number in range(o.repeats):
        for mib in sizes:
            for part, action in chosen if round_number % 2 == 0 else reversed(chosen):
                schedule.run(part, mib, functools.partial(action, mib))
        if "two" in only and gpus >= 2:
            for part, action in (("one GPU", ways.one_gpu), ("two GPUs", ways.two_gpus)):
                schedule.run(part, two, functools.partial(action, two))


if __name__ == "__main__":
    main()
