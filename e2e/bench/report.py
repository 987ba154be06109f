"""Figures as they come, then as tables: absolute, as rates and as ratios, beside what was aimed at."""
import json
import os
import statistics
import tempfile

DRIVER = {"lock", "gpu-checkpoint", "gpu-restore", "unlock"}
CRIU = {"dump", "criu-restore"}
COPIES = {"move", "copied", "fill", "layer", "unpack", "publish", "verify", "hash"}
OURS = {"mover", "mover, THP always", "ours by criu"}

# Size in GB, our way, action, compared with, at most so many times its time.
TARGETS = [
    (1, "mover", "checkpoint", "hand", 0.9),
    (1, "mover", "restore", "hand", 0.9),
    (16, "mover", "checkpoint", "hand", 0.7),
    (16, "mover, THP always", "checkpoint", "hand", 0.55),
    (16, "mover", "restore", "hand", 0.33),
    (16, "mover", "resume", "hand", 0.75),
    (16, "mover", "checkpoint", "plugin", 0.45),
    (16, "mover", "restore", "plugin", 0.3),
    (48, "mover, THP always", "checkpoint", "hand", 0.5),
    (48, "mover, THP always", "restore", "hand", 0.3),
]


def gb(mib):
    return (mib << 20) / 1e9


def name(mib):
    return f"{gb(mib):.0f} GB" if gb(mib) >= 0.95 else f"{mib} MiB"


def sequencing(measured):
    """What is neither the driver's, criu's nor a copy."""
    if measured.way not in OURS:
        return None
    known = DRIVER | CRIU | COPIES
    return measured.more["total"] - sum(took for step, took in measured.parts.items() if step.removeprefix("undo:") in known)


def spread(values, form="{:.2f}"):
    if not values:
        return "-"
    if len(values) == 1:
        return form.format(values[0])
    return f"{form.format(statistics.median(values))} ({form.format(min(values))}-{form.format(max(values))})"


class Report:
    """All that was measured."""

    def __init__(self, folder, machine, asked, sizes):
        self.folder = folder or tempfile.mkdtemp(prefix="stasis-bench-out.", dir="/tmp")
        os.makedirs(self.folder, exist_ok=True)
        self.machine, self.asked, self.sizes = machine, asked, sizes
        self.all, self.notes, self.calls = [], [], None
        print(f"bench: {', '.join(machine['gpus'])}; driver {machine['driver']}; results go to {self.folder}", flush=True)

    def note(self, text):
        self.notes.append(text)
        print(f"bench: {text}", flush=True)

    def add(self, measured):
        self.all.append(measured)
        parts = " ".join(f"{step} {took:.2f}" for step, took in measured.parts.items())
        above = f" memory above its own {measured.more['memoryAbove'] >> 20} MiB" if "memoryAbove" in measured.more else ""
        print(f"{name(measured.mib):>8} {measured.way:18} {measured.action:10} {measured.seconds:7.2f} s  {parts}{above}", flush=True)

    def pick(self, mib, way, action):
        return [m for m in self.all if (m.mib, m.way, m.action) == (mib, way, action)]

    def seconds(self, mib, way, action):
        return [m.seconds for m in self.pick(mib, way, action)]

    def ratio(self, mib, way, action, other, key=None):
        mine = [m.more[key] if key else m.seconds for m in self.pick(mib, way, action)]
        theirs = self.seconds(mib, other, action)
        return statistics.median(mine) / statistics.median(theirs) if mine and theirs else None

    # Tables.

    def ways(self):
        return list(dict.fromkeys(m.way for m in self.all if "GPU" not in m.way))

    def times(self):
        rows = ["| size | action | way | runs | s, median (least-most) | GB/s | by hand = 1 | plugin = 1 |", "|---|---|---|---|---|---|---|---|"]
        for mib in sorted({m.mib for m in self.all if "GPU" not in m.way}):
            for action in ("checkpoint", "resume", "restore", "migration"):
                for way in self.ways():
                    runs = self.pick(mib, way, action)
                    if not runs:
                        continue
                    rows.append(self.row(mib, action, way, [m.seconds for m in runs], None))
                    if action == "checkpoint" and "dumped" in runs[0].more:
                        rows.append(self.row(mib, action, way, [m.more["dumped"] for m in runs], "dumped"))
        return rows

    def row(self, mib, action, way, seconds, key):
        middle = statistics.median(seconds)
        hand, plugin = (self.ratio(mib, way, action, other, key) for other in ("hand", "plugin"))
        label = f"{way}, until dumped" if key else way
        return (f"| {name(mib)} | {action} | {label} | {len(seconds)} | {spread(seconds)} | {gb(mib) / middle:.2f} | "
                f"{'' if way == 'hand' or hand is None else f'{hand:.2f}'} | {'' if way == 'plugin' or plugin is None else f'{plugin:.2f}'} |")

    def parts(self):
        rows = ["| size | action | way | parts, median s |", "|---|---|---|---|"]
        for key in dict.fromkeys((m.mib, m.action, m.way) for m in self.all):
            runs = self.pick(key[0], key[2], key[1])
            steps = dict.fromkeys(step for m in runs for step in m.parts)
            middle = [(s, statistics.median(m.parts.get(s, 0) for m in runs)) for s in steps]
            if middle:
                rows.append(f"| {name(key[0])} | {key[1]} | {key[2]} | {', '.join(f'{s} {t:.3f}' for s, t in middle)} |")
        return rows

    def targets(self):
        rows = ["| what | wanted | found | |", "|---|---|---|---|"]

        def row(what, wanted, found, met):
            rows.append(f"| {what} | {wanted} | {found} | {'-' if met is None else 'met' if met else '**missed**'} |")

        for size, way, action, other, most in TARGETS:
            mib = next((m for m in self.sizes if abs(gb(m) - size) < 0.05 * size), None)
            ratio = self.ratio(mib, way, action, other) if mib else None
            dumped = self.ratio(mib, way, action, other, "dumped") if mib and action == "checkpoint" and ratio is not None else None
            found = "not measured" if ratio is None else f"{ratio:.2f}" + (f" (until dumped {dumped:.2f})" if dumped else "")
            row(f"{size} GB {action}, {way}, of {other}", f"<= {most}", found, None if ratio is None else ratio <= most)
        for action in ("checkpoint", "restore"):
            one, two = ([m.seconds for m in self.all if m.way == way and m.action == action] for way in ("one GPU", "two GPUs"))
            found = statistics.median(two) / (2 * statistics.median(one)) if one and two else None
            row(f"two GPUs {action}, of two single ones", "<= 0.6", "not measured" if found is None else f"{found:.2f}", None if found is None else found <= 0.6)
        biggest = max((m.mib for m in self.all if m.way == "mover"), default=None)
        # The copy runs beside the dump and the packing; the last of these steps waits for it.
        for steps, action in ((("move", "dump", "layer", "copied"), "checkpoint"), (("fill",), "restore")):
            took = [(m, sum(m.parts.get(step, 0) for step in steps)) for m in self.pick(biggest, "mover", action)]
            rates = [m.more["gpuBytes"] / 1e9 / seconds for m, seconds in took if seconds]
            row(f"mover, {' + '.join(steps)}, at {name(biggest) if biggest else '?'}, {self.asked['threads']} threads", ">= 20 GB/s with 16 cores",
                spread(rates, "{:.1f}") + " GB/s", statistics.median(rates) >= 20 if rates else None)
        for action in ("checkpoint", "restore", "resume"):
            rest = [sequencing(m) * 1e3 for m in self.all if m.way in OURS and m.action == action]
            row(f"sequencing of a {action} (total less driver, criu, copies)", "<= 150 ms", spread(rest, "{:.0f}") + " ms",
                statistics.median(rest) <= 150 if rest else None)
        above = [m.more["memoryAbove"] / (1 << 20) for m in self.all if m.way in ("mover", "mover, THP always") and "memoryAbove" in m.more]
        # The process keeps what is copied, so a store on a tmpfs takes as much again.
        row("memory above the process's own, staged in the store", "for comparison", f"{max(above):.0f} MiB at most" if above else "-", None)
        state = self.calls["resident"] if self.calls else None
        row("GetState from the resident worker, median", "< 1 ms",
            f"{state['median']:.3f} ms (p99 {state['p99']:.3f}, {state['calls']} calls)" if state else "not measured",
            state["median"] < 1 if state else None)
        if self.calls:
            spawned = self.calls["spawned"]
            row("one process for each GetState, median", "for comparison",
                f"{spawned['median']:.1f} ms, {spawned['median'] / state['median']:.0f} times as long", None)
        return rows

    def text(self):
        m = self.machine
        lines = ["# Benchmark", "", f"- {m['date']}; {len(m['gpus'])} x {', '.join(sorted(set(m['gpus'])))}"
                 + (" (**simulated**: the driver's times mean nothing)" if m["simulated"] else ""),
                 f"- driver {m['driver']}, CUDA {m['cuda']}; kernel {m['kernel']}, cgroup {m['cgroup']}, THP {m['thp']}",
                 f"- {m['cpu']}, {m['cores']} cores, {m['memoryBytes'] / (1 << 30):.0f} GiB of memory",
                 f"- {m['criu']}; {m['runc']}; {m['java']}",
                 f"- asked: {' '.join(f'--{k} {v}' for k, v in self.asked.items() if v not in (None, False))}", ""]
        lines += ["## Aims", "", *self.targets(), "", "## Times", "", *self.times(), "", "## Parts", "", *self.parts(), "", "## Notes", ""]
        lines += [f"- {note}" for note in self.notes]
        return "\n".join(lines) + "\n"

    def write(self):
        everything = {"machine": self.machine, "asked": self.asked, "calls": self.calls, "notes": self.notes,
                      "measured": [m.as_json() for m in self.all]}
        for file, content in (("bench.json", json.dumps(everything, indent=1)), ("bench.md", self.text())):
            path = os.path.join(self.folder, file)
            with open(path + ".new", "w") as out:
                out.write(content)
            os.replace(path + ".new", path)

    def print(self):
        print("\n" + self.text(), flush=True)
