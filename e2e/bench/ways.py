"""The ways that are compared. Each starts its program, sees that its values are right, measures, and sees again that
they are right; only what lies between counts."""
import os
import shutil
import statistics
import subprocess
import time

from machine import MemorySampler
from programs import Box, Process, Wrong, empty, in_box, two_in_box

# Of one measured action: 48 GB by hand took 35 s on the machine of the measurements.
LIMIT = 240
CRIU = "--shell-job -v1 --tcp-established --ext-unix-sk --file-locks --link-remap".split()


class Measured:
    """One measurement: how long, of what, and its parts in seconds."""

    def __init__(self, mib, way, action, seconds, parts, **more):
        self.mib, self.way, self.action, self.seconds, self.parts, self.more = mib, way, action, seconds, parts, more

    def as_json(self):
        return {"mib": self.mib, "way": self.way, "action": self.action, "seconds": round(self.seconds, 4),
                "parts": {k: round(v, 4) for k, v in self.parts.items()}, **self.more}


def patience(mib):
    """Seconds for a program's start or full check: a core makes and compares some 2 GB of pattern a second."""
    return 60 + mib / 200


class Steps:
    """Takes the time of each step of a way by hand."""

    def __init__(self):
        self.parts, self.begin = {}, time.monotonic()

    def step(self, name, action, *arguments):
        begin = time.monotonic()
        action(*arguments)
        self.parts[name] = time.monotonic() - begin

    def seconds(self):
        return time.monotonic() - self.begin


class Ways:
    """All ways, over one engine and one scratch folder."""

    def __init__(self, tools, scratch, engine, record, resume=True):
        self.tools, self.scratch, self.engine, self.record, self.resume = tools, scratch, engine, record, resume
        self.count = 0

    # By hand.

    def call(self, action, pid):
        """One driver action, one process."""
        timeout = ["--timeout", "10000"] if action == "lock" else []
        command = [self.tools.programs + "/cuda-call", action, str(pid), *timeout]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
                              env=self.tools.plain_environment())
        if done.returncode:
            raise Wrong(f"cuda-call {action}: {(done.stdout + done.stderr).strip()}")

    def criu(self, images, verb, program, *options, environment=None, limit=LIMIT):
        log = images + f"/{verb}.log"
        command = [program, verb, "-D", images, "-o", log, *CRIU, *options]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit,
                              env=environment or self.tools.plain_environment())
        if done.returncode:
            with open(log, errors="replace") as file:
                raise Wrong(f"criu {verb}: {' | '.join(file.read().splitlines()[-4:])} {done.stderr[-200:]}")

    def images(self):
        folder = empty(os.path.join(self.scratch.images, "img"))
        return folder, self.scratch.sub("nolib")

    def hand_resumed(self, mib, process):
        images, nolib = self.images()
        steps = Steps()
        steps.step("lock", self.call, "lock", process.pid)
        steps.step("gpu-checkpoint", self.call, "checkpoint", process.pid)
        steps.step("dump", self.criu, images, "dump", self.tools.upstream_criu, "-t", str(process.pid), "--libdir", nolib, "--leave-running")
        steps.step("gpu-restore", self.call, "restore", process.pid)
        steps.step("unlock", self.call, "unlock", process.pid)
        took = steps.seconds()
        process.await_steps(2, patience(mib))
        self.record(Measured(mib, "hand", "resume", took, steps.parts))

    def hand(self, mib):
        """One spawn an action and criu with its defaults: first resumed in place, then dumped, ended and restored."""
        process = Process(self.tools, self.scratch.path, mib)
        try:
            process.await_steps(2, patience(mib))
            if self.resume:
                self.hand_resumed(mib, process)
            images, nolib = self.images()
            steps = Steps()
            steps.step("lock", self.call, "lock", process.pid)
            steps.step("gpu-checkpoint", self.call, "checkpoint", process.pid)
            steps.step("dump", self.criu, images, "dump", self.tools.upstream_criu, "-t", str(process.pid), "--libdir", nolib)
            checkpoint = Measured(mib, "hand", "checkpoint", steps.seconds(), steps.parts)
            process.gone()
            steps = Steps()
            steps.step("criu-restore", self.criu, images, "restore", self.tools.upstream_criu, "--libdir", nolib, "--restore-detached")
            steps.step("gpu-restore", self.call, "restore", process.pid)
            steps.step("unlock", self.call, "unlock", process.pid)
            took = steps.seconds()
            process.await_full_check(patience(mib))
            self.record(checkpoint)
            self.record(Measured(mib, "hand", "restore", took, steps.parts))
        finally:
            process.close()
            self.images()

    def plugin(self, mib):
        """criu with its own CUDA plugin, which runs cuda-checkpoint for each action."""
        plugin = self.tools.plugin
        environment = self.tools.plain_environment()
        environment["PATH"] = plugin + "/bin:" + environment["PATH"]
        process = Process(self.tools, self.scratch.path, mib)
        try:
            process.await_steps(2, patience(mib))
            images, _ = self.images()
            # The plugin's lock and the freeze have ten seconds by default: the driver's copy is not within them.
            options = ["--libdir", plugin + "/libdir", "--timeout", "120"]
            # A plugin that waits for a thread which never answers waits for ever; 48 GB took it some 50 s.
            limit = 30 + mib / 300
            steps = Steps()
            self.criu(images, "dump", plugin + "/bin/criu", "-t", str(process.pid), *options, environment=environment, limit=limit)
            checkpoint = Measured(mib, "plugin", "checkpoint", steps.seconds(), {})
            process.gone()
            size = sum(os.path.getsize(os.path.join(images, name)) for name in os.listdir(images))
            if size < mib << 20:
                raise Wrong(f"the plugin's images hold {size} bytes, fewer than the {mib << 20} of device memory: it did nothing")
            steps = Steps()
            self.criu(images, "restore", plugin + "/bin/criu", *options, "--restore-detached", environment=environment, limit=limit)
            took = steps.seconds()
            process.await_full_check(patience(mib))
            self.record(checkpoint)
            self.record(Measured(mib, "plugin", "restore", took, {}))
        finally:
            process.close()
            self.images()

    # Ours.

    def checkpoint(self, box, after, stage, thp, path):
        self.count += 1
        wanted = {"resume": "Published", "evict": "Held"}[after]
        return self.engine.must(
            wanted, LIMIT + 10, do="checkpoint", container=box.id, store=self.scratch.sub("store", True),
            name=f"bench-{self.count}", after=after, stage=stage, thp=thp, path=path)

    def ours(self, mib, way, thp=False, path="mover", resume_stage="auto"):
        """Resumed in place; then until it is published and held; then ended and restored into a container that waits."""
        name, target = f"s{self.count}", f"t{self.count}"
        box = Box(self.tools, name, "0", "workload", in_box(mib))
        try:
            box.await_steps(2, patience(mib))
            if self.resume:
                answer = self.checkpoint(box, "resume", resume_stage, thp, path)
                box.await_steps(2, patience(mib))
                shutil.rmtree(answer["artifact"])
                self.record(self.measured(mib, way, "resume", answer["frozen"], answer, published=answer["millis"] / 1e3))
            with MemorySampler(box.pid, self.scratch) as memory:
                answer = self.checkpoint(box, "evict", "disk", thp, path)
            checkpoint = self.measured(
                mib, way, "checkpoint", answer["millis"], answer, memoryAbove=int(memory.most),
                dumped=(answer["millis"] - answer["timings"].get("publish", 0)) / 1e3)
            self.engine.ask(LIMIT, do="end", container=box.id)
            box.close()
            waiting = Box(self.tools, target, "0", "holder", in_box(mib))
            back = self.engine.must("Proven", LIMIT + 10, do="restore", artifact=answer["artifact"], target=waiting.id)
            waiting.await_full_check(patience(mib))
            self.record(checkpoint)
            self.record(self.measured(mib, way, "restore", back["millis"], back))
        finally:
            self.sweep()

    @staticmethod
    def measured(mib, way, action, millis, answer, **more):
        parts = {step: took / 1e3 for step, took in answer["timings"].items()}
        if "path" in answer:
            more["path"] = answer["path"]
        return Measured(mib, way, action, millis / 1e3, parts, gpuBytes=answer["gpuBytes"], total=answer["millis"] / 1e3, **more)

    def sweep(self):
        for box in list(Box.made):
            box.close()
        empty(os.path.join(self.scratch.images, "store"))

    # Two GPUs, and single calls.

    def there(self, mib, gpus, command, way, processes):
        name, target = f"s{self.count}", f"t{self.count}"
        try:
            box = Box(self.tools, name, gpus, "workload", command)
            box.await_steps(4 * processes, 2 * patience(mib))
            answer = self.checkpoint(box, "evict", "disk", False, "mover")
            checkpoint = self.measured(mib, way, "checkpoint", answer["millis"], answer)
            self.engine.ask(LIMIT, do="end", container=box.id)
            box.close()
            waiting = Box(self.tools, target, gpus, "holder", command)
            back = self.engine.must("Proven", LIMIT + 10, do="restore", artifact=answer["artifact"], target=waiting.id)
            # A process that stands still would leave the other one's lines alone: then this is not reached.
            waiting.await_full_check(2 * patience(mib), processes)
            self.record(checkpoint)
            self.record(self.measured(mib, way, "restore", back["millis"], back))
        finally:
            self.sweep()

    def one_gpu(self, mib):
        self.there(mib, "0", in_box(mib), "one GPU", 1)

    def two_gpus(self, mib):
        self.there(mib, "0,1", two_in_box(mib), "two GPUs", 2)

    def state_calls(self):
        """GetState from the resident worker, and by a process of its own for each call."""
        process = Process(self.tools, self.scratch.path, 64)
        try:
            process.await_steps(2, patience(64))
            resident = self.engine.must("Done", 120, do="state", pid=process.pid, calls=2000)
            spawned = []
            for _ in range(30):
                begin = time.monotonic()
                self.call("state", process.pid)
                spawned.append((time.monotonic() - begin) * 1e3)
            return {"resident": resident,
                    "spawned": {"calls": len(spawned), "median": statistics.median(spawned), "least": min(spawned), "most": max(spawned)}}
        finally:
            process.close()
