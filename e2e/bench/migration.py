"""A workload goes from one place to another on one machine: by hand (dump, tar, copy, untar, restore) and as a
GpuMigration does it, without Kubernetes. Only the time in which it stands still counts."""
import os
import statistics
import subprocess

from programs import Box, Process, Wrong, empty, in_box
from ways import LIMIT, Measured, Steps, patience

# What is aimed at: the downtime of the chain's and of its slowest stage's, the rate of a plain copy's.
OF_CHAIN, OF_STAGE, OF_COPY = 0.35, 1.25, 0.85
# The chain's stages, by the steps of each.
CHAIN = {"dump": ("lock", "gpu-checkpoint", "dump"), "tar": ("tar",), "copy": ("copy",), "untar": ("untar",),
         "restore": ("criu-restore", "gpu-restore", "unlock")}
# As many as an agent has unless it is told otherwise (SendJob).
STREAMS = max(4, min(8, os.cpu_count() // 2))


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        raise Wrong(f"{command[0]}: {(done.stdout + done.stderr).strip()[-300:]}")


class Migrations:
    """Both ways, over the engine and the folders of the others."""

    def __init__(self, ways, streams):
        self.ways, self.tools, self.scratch, self.engine, self.streams = ways, ways.tools, ways.scratch, ways.engine, streams

    def chain(self, mib):
        """One tool after the other, each as it comes; the copy goes over one plain TCP connection."""
        ways = self.ways
        process = Process(self.tools, self.scratch.path, mib)
        try:
            process.await_steps(2, patience(mib))
            images, nolib = ways.images()
            packed = empty(os.path.join(self.scratch.images, "packed"))
            there = empty(os.path.join(self.scratch.images, "there"))
            pid = str(process.pid)
            steps = Steps()
            steps.step("lock", ways.call, "lock", process.pid)
            steps.step("gpu-checkpoint", ways.call, "checkpoint", process.pid)
            steps.step("dump", ways.criu, images, "dump", self.tools.upstream_criu, "-t", pid, "--libdir", nolib)
            steps.step("tar", run, "tar", "-cf", packed + "/a.tar", "-C", images, ".")
            steps.step("copy", self.copy, packed + "/a.tar", there, 1)
            steps.step("untar", run, "tar", "-xf", there + "/a.tar", "-C", there)
            process.gone()
            steps.step("criu-restore", ways.criu, there, "restore", self.tools.upstream_criu, "--libdir", nolib, "--restore-detached")
            steps.step("gpu-restore", ways.call, "restore", process.pid)
            steps.step("unlock", ways.call, "unlock", process.pid)
            took = steps.seconds()
            process.await_full_check(patience(mib))
            ways.record(Measured(mib, "chain", "migration", took, steps.parts))
        finally:
            process.close()
            for name in ("img", "packed", "there"):
                empty(os.path.join(self.scratch.images, name))

    def copy(self, source, to, streams):
        return self.engine.must("Copied", LIMIT, do="copy", **{"from": source}, to=to, streams=streams)

    def ours(self, mib):
        """As a GpuMigration does it: by mutual TLS into the other's store while it is made, restored into a container that waits."""
        self.there(mib, "agents", self.ahead)

    def serial(self, mib):
        """The same, but nothing is sent before all of it is there."""
        self.there(mib, "agents in turn", self.in_turn)

    def held(self, do, box, **more):
        return self.engine.must(
            "Held", LIMIT, do=do, container=box.id, store=self.scratch.sub("store", True),
            name=f"bench-{self.ways.count}", after="evict", stage="disk", thp=False, path="mover", later=True, **more)

    def ahead(self, box, there):
        held = self.held("checkpoint-and-send", box, to=there, streams=self.streams)
        return held, held["received"], (held["total"] - held["millis"]) / 1e3, {}

    def in_turn(self, box, there):
        held = self.held("checkpoint", box)
        plain = empty(os.path.join(self.scratch.images, "plain"))
        sent = self.engine.must("Received", LIMIT, do="send", artifact=held["artifact"], store=there, streams=self.streams)
        copied = self.copy(held["artifact"], plain, self.streams)
        empty(plain)
        return held, sent["artifact"], sent["millis"] / 1e3, {"bytes": sent["bytes"], "copy": copied["millis"] / 1e3}

    def there(self, mib, way, carry):
        ways = self.ways
        ways.count += 1
        there = empty(os.path.join(self.scratch.images, "there"))
        box = Box(self.tools, f"s{ways.count}", "0", "workload", in_box(mib))
        try:
            box.await_steps(2, patience(mib))
            waiting = Box(self.tools, f"t{ways.count}", "0", "holder", in_box(mib))
            held, arrived, sent, more = carry(box, there)
            back = self.engine.must("Proven", LIMIT, do="restore", artifact=arrived, target=waiting.id)
            self.engine.ask(LIMIT, do="end", container=box.id)
            waiting.await_full_check(patience(mib))
            stages = {"checkpoint": held["millis"] / 1e3, "send": sent, "restore": back["millis"] / 1e3}
            parts = dict(stages)
            parts.update({f"checkpoint/{k}": v / 1e3 for k, v in held["timings"].items()})
            parts.update({f"restore/{k}": v / 1e3 for k, v in back["timings"].items()})
            ways.record(Measured(mib, way, "migration", sum(stages.values()), parts, gpuBytes=held["gpuBytes"], **more))
        finally:
            ways.sweep()
            empty(there)


def tell(report, streams):
    """The figures of every size, beside what is wanted."""
    for mib in sorted({m.mib for m in report.all if m.action == "migration"}):
        ours, chain, serial = (report.pick(mib, way, "migration") for way in ("agents", "chain", "agents in turn"))
        if ours:
            downtime = statistics.median(m.seconds for m in ours)
            if chain:
                hand = statistics.median(m.seconds for m in chain)
                say(report, mib, f"downtime {downtime:.2f} s of {hand:.2f} s by hand", downtime / hand, "<=", OF_CHAIN)
                stages = {name: statistics.median(sum(m.parts[s] for s in steps) for m in chain) for name, steps in CHAIN.items()}
                name = max(stages, key=stages.get)
                say(report, mib, f"downtime {downtime:.2f} s of {stages[name]:.2f} s, the slowest stage by hand ({name})",
                    downtime / stages[name], "<=", OF_STAGE)
            # Our own, each by itself where that was measured: what is sent while the rest is made takes no time of its own.
            # The driver copies in only after it has copied out, so this is never 1.
            stage = statistics.median(max(m.parts[s] for s in ("checkpoint", "send", "restore")) for m in serial or ours)
            report.note(f"migration of {mib} MiB: downtime {downtime:.2f} s of {stage:.2f} s, our own slowest stage: {downtime / stage:.2f}")
        if ours and serial:
            turn = statistics.median(m.seconds for m in serial)
            report.note(f"migration of {mib} MiB: downtime {downtime:.2f} s, {turn:.2f} s when nothing is sent ahead: {downtime / turn:.2f}")
        if serial:
            sent = statistics.median(m.parts["send"] for m in serial)
            copy = statistics.median(m.more["copy"] for m in serial)
            rate = statistics.median(m.more["bytes"] for m in serial) / 1e9
            say(report, mib, f"{streams} streams {rate / sent:.2f} GB/s of {rate / copy:.2f} GB/s by plain TCP", copy / sent, ">=", OF_COPY)


def say(report, mib, what, found, sign, wanted):
    met = found <= wanted if sign == "<=" else found >= wanted
    report.note(f"migration of {mib} MiB: {what}: {found:.2f} (wanted {sign} {wanted}: {'met' if met else 'missed'})")
