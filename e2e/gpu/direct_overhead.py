"""The section `overhead` of e2e/gpu/direct.py: what the library costs a launch-bound loop.

Processes with and without the library exist at the same time, and one of them works at a time. In each round each of them runs one burst of
a few iterations, directly before or after one of the other variant: the machine's speed varies by a third from one second to the next, and
hardly between two such bursts.
"""
import os
import random
import statistics
import subprocess
import time

from direct_parts import ENDS, Workload, check, say

HERE = os.path.dirname(os.path.abspath(__file__))
VARIANTS = {"plain": False, "library": True}
TARGET_RATIO = 0.99
SECONDS = int(os.environ.get("SECONDS_OF_BURSTS", "110"))
ITERATIONS = int(os.environ.get("ITERATIONS", "12"))  # of a burst
RESAMPLES = 500

# Of a burst: the words of its answer (direct_loop.py). A rate is better when it is higher, the others when they are lower.
METRICS = {
    "iterations a second": lambda b: int(b[1]) / float(b[2]),
    "us of the main thread's CPU time an iteration": lambda b: float(b[3]) / int(b[1]) * 1e6,
    "us of all threads' CPU time an iteration": lambda b: float(b[4]) / int(b[1]) * 1e6,
    "user instructions an iteration": lambda b: int(b[5]) / int(b[1]),
}


class Loop(Workload):
    def __init__(self, variant, number):
        super().__init__(f"loop-{variant}-{number}", f"{HERE}/direct_loop.py", library=VARIANTS[variant], stdin=subprocess.PIPE)
        self.variant = variant
        self.bursts = []
        self.partners = []  # the other process of each pair

    def pin(self, core):
        """All of its threads. Not before they exist: all processes would start on one core."""
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            try:
                os.sched_setaffinity(int(thread), {core})
            except ProcessLookupError:
                pass  # it has ended meanwhile

    def answers(self):
        return [line.split() for line in self.text().splitlines(True) if line.startswith("ran ") and line.endswith("\n")]

    def burst(self, n):
        wanted = len(self.answers()) + 1
        self.process.stdin.write(f"run {n}\n".encode())
        self.process.stdin.flush()
        self.wait(lambda: len(self.answers()) >= wanted, 30, f"{n} iterations")
        return self.answers()[-1]


def pairs(loops, dice):
    """One of each variant, in any order, then the next of each."""
    columns = [dice.sample(of_variant, len(of_variant)) for of_variant in ([w for w in loops if w.variant == v] for v in VARIANTS)]
    for each in zip(*columns):
        yield dice.sample(each, 2)


def middle(values, processes, rounds):
    return statistics.median(statistics.median(values[p][r] for r in rounds) for p in processes)


def interval(values, plain, dice):
    """Of the ratio to plain: 95 % of the ratios of resampled processes and rounds. A round is the same for both."""
    count, rounds = len(values), range(len(values[0]))
    ratios = []
    for _ in range(RESAMPLES):
        drawn = dice.choices(rounds, k=len(rounds))
        ratios.append(middle(values, dice.choices(range(count), k=count), drawn) / middle(plain, dice.choices(range(count), k=count), drawn))
    ratios.sort()
    return ratios[RESAMPLES // 40], ratios[-1 - RESAMPLES // 40]


def compare(loops, metric, dice):
    """Prints each variant's figures. Returns the library's ratio to plain and its interval."""
    value = METRICS[metric]
    table = {name: [[value(b) for b in w.bursts] for w in loops if w.variant == name] for name in VARIANTS}
    rounds, processes = range(len(loops[0].bursts)), range(len(table["plain"]))
    # Each burst by the mean of its pair.
    relative = {name: [[2 * value(b) / (value(b) + value(other.bursts[r])) for r, (b, other) in enumerate(zip(w.bursts, w.partners))]
                       for w in loops if w.variant == name] for name in VARIANTS}
    found = {}
    say(f"-- {metric}")
    for name, of_variant in table.items():
        medians = [statistics.median(each) for each in of_variant]
        text = f"{name}: median {statistics.median(medians):.2f}, processes {min(medians):.2f} to {max(medians):.2f}"
        if name != "plain":
            ratio = middle(relative[name], processes, rounds) / middle(relative["plain"], processes, rounds)
            low, high = interval(relative[name], relative["plain"], dice)
            found[name] = ratio, low, high
            text += f"; ratio to plain {ratio:.4f}, 95 % interval {low:.4f} to {high:.4f}"
        say(text)
    return found["library"]


def section_overhead():
    count = int(os.environ.get("PROCESSES", "8"))
    seed = int(os.environ.get("SEED") or time.time())
    dice = random.Random(seed)
    began = time.time()
    loops = [Loop(variant, i) for i in range(count) for variant in VARIANTS]
    for w in loops:
        w.wait(lambda: "ready; " in w.text(), 90, "start")
    ready = next(line for line in loops[0].text().splitlines() if line.startswith("ready; "))
    cores = sorted(os.sched_getaffinity(0))
    core = cores[len(cores) // 2]
    for w in loops:
        w.pin(core)
    os.sched_setaffinity(0, set(cores) - {core} or set(cores))
    say(f"SEED={seed}; {len(loops)} processes on core {core} started in {time.time() - began:.0f} s; {ready}")
    try:
        measure(loops, min(ENDS - 60, time.time() + SECONDS), dice)
    finally:
        os.sched_setaffinity(0, cores)
        for w in loops:
            w.end()


def measure(loops, end, dice):
    losses = [{w.burst(50)[6] for w in loops}]
    while time.time() < end:
        for one, other in pairs(loops, dice):
            for w, partner in ((one, other), (other, one)):
                w.bursts.append(w.burst(ITERATIONS))
                w.partners.append(partner)
        losses.append({w.bursts[-1][6] for w in loops})
    rounds = len(losses) - 1
    say(f"{rounds} rounds, in each {len(loops) // 2} pairs of bursts of {ITERATIONS} iterations")
    check(all(len(each) == 1 for each in losses), f"one loss in all {len(loops)} processes after each burst, at last {' '.join(losses[-1])}")
    if not rounds:
        return
    for metric in METRICS:
        if "instructions" in metric and any(b[5] == "-" for w in loops for b in w.bursts):
            continue
        ratio, low, high = compare(loops, metric, dice)
        if metric == "iterations a second":
            verdict = "met" if low >= TARGET_RATIO else "missed" if high < TARGET_RATIO else "not shown"
            check(high >= TARGET_RATIO, f"launch-bound loop with the library at {TARGET_RATIO} of its speed: {verdict} ({ratio:.4f}, {low:.4f} to {high:.4f})")
