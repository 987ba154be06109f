"""The section `kills` of e2e/gpu/direct.py: keeper, second holder, agent or workload is killed at random moments of freezes in place.

The agent is a process of its own (direct_agent.py). Another one undoes what it began, in the order of the agent's rollback: the driver's
Restore and Unlock, a new keeper if the first one is dead, reload, open. The workload must then continue with all of its memory.
A killed workload is replaced; the keeper must give up its memory.
"""
import collections
import os
import random
import select
import signal
import subprocess
import time

from direct_agent import KEEPER_STEPS, STEPS
from direct_parts import ENDS, KEEPER, OUT, PYTHON, TARGET, Keeper, Workload, check, gpu_used, say, smi, started

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ("keeper", "second holder", "agent", "keeper and agent")  # of the rounds that the workload survives
WORKLOAD = "workload"
SECONDS = 215  # for all rounds; the comparison of the losses follows
SILENCE = 20  # seconds: a step of a freeze takes half a second at most
TOLERANCE_MIB = 32  # the smallest piece of the ballast has 64


def used_mib():
    return int(gpu_used().split(",")[0])


def until(condition, seconds, what):
    end = time.time() + seconds
    while not condition():
        if time.time() > end:
            raise RuntimeError(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def until_free(level):
    """Waits until device memory is as before, and returns what is in use. The driver frees that of a killed process within a second."""
    end = time.time() + 10
    while True:
        used = used_mib()
        if used <= level + TOLERANCE_MIB:
            return used
        if time.time() > end:
            raise RuntimeError(f"device memory in use after 10 s: expected {level} MiB, got {used}")
        time.sleep(0.1)


def holder_of(keeper):
    """Its second holder, or None: the child of this keeper, or of one before it at the same socket (its path contains our pid)."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if f.read().endswith(f"\0hold\0{keeper.path}.hold\0".encode()):
                    return int(pid)
        except OSError:
            pass  # it has ended meanwhile
    return None


class Agent:
    """A freeze in place by a process of its own."""

    def __init__(self, keeper, w):
        with open(f"{OUT}/kills-agent.err", "a") as log:
            self.process = subprocess.Popen([PYTHON, f"{HERE}/direct_agent.py", TARGET, "freeze", keeper.path, f"p{w.pid}", str(w.pid), w.start],
                                            stdout=subprocess.PIPE, stderr=log, bufsize=0)
        started.append(self.process)
        self.thread, self.step, self.end = 0, "start", "killed"
        self.begun = {}  # when each step began
        self.heard, self.rest = time.perf_counter(), b""

    def take(self, line):
        word, _, rest = line.partition(" ")
        self.heard = time.perf_counter()
        if word == "thread":
            self.thread = int(rest)
        elif word == "begin":
            self.step = rest
            self.begun[rest] = self.heard
        elif word in ("done", "failed"):
            self.step, self.end = "after", line
            self.begun["after"] = self.heard

    def read(self, seconds):
        """Waits so long for output; False when the agent has ended."""
        if not select.select([self.process.stdout], [], [], max(0, seconds))[0]:
            return True
        data = os.read(self.process.stdout.fileno(), 65536)
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.take(line.decode())
        return bool(data)

    def run(self, trigger=None, delay=0.0, strike=None):
        """Waits for its end, and strikes so many seconds after that step began. Returns the step in progress, and when it was hit."""
        hit, going = None, True
        while going or (strike and not hit):
            if strike and not hit and trigger in self.begun:
                left = self.begun[trigger] + delay - time.perf_counter()
                if left <= 0:
                    hit = self.step, (time.perf_counter() - self.begun["attach"]) * 1e3
                    strike()
                    continue
            elif strike and not hit and not going:
                raise RuntimeError(f"the agent ended before '{trigger}': {self.end}")
            else:
                left = 0.2
            if not going:
                time.sleep(left)
            else:
                going = self.read(min(left, 0.2))
            if going and time.perf_counter() - self.heard > SILENCE:
                self.end, going = f"hung in {self.step}", False
                self.process.kill()
        self.process.wait(SILENCE)
        self.process.stdout.close()
        return hit

    def spans(self):
        """How many seconds each step took."""
        times = list(self.begun.values())
        return {step: after - before for step, before, after in zip(self.begun, times, times[1:])}


class Kills:
    def __init__(self):
        self.end = min(ENDS - 60, time.time() + SECONDS)
        self.gib = float(os.environ.get("KILLS_GIB", "2"))
        self.seed = int(os.environ.get("SEED") or time.time())
        self.dice = random.Random(self.seed)
        self.keeper = self.w = None
        self.lives = []  # every workload
        self.rows = []  # kind, step, held

    def begin(self):
        self.level = used_mib()
        self.new_keeper()
        self.new_workload()
        say(f"SEED={self.seed}; {self.gib} GiB in {self.pieces} pieces; GPU used/total MiB {gpu_used()}, {self.level} used before")

    def new_keeper(self):
        """A keeper that reaches the second holder of a dead one just before that ends, since it holds nothing, does not start."""
        for tries in range(3):
            try:
                self.keeper = Keeper("kills")
                return
            except RuntimeError as e:
                say(f"   a keeper did not start: {e}")
                if tries == 2:
                    raise

    def new_workload(self):
        self.w = Workload(f"kills-{len(self.lives)}", f"{HERE}/direct_train.py", self.gib, 10 ** 9)
        self.name = f"p{self.w.pid}"
        self.lives.append(self.w)
        self.w.wait(lambda: self.w.steps() > 5, 60, "start")
        self.pieces = int(self.w.text().split("ready pieces ")[1].split()[0])

    def drop(self):
        """What the keeper still has of the workload, which has its memory again or has ended."""
        if self.name not in self.keeper.tell("list"):
            return False
        self.keeper.tell("drop", self.name)
        return True

    def more(self):
        self.w.more(self.pieces + 2, 30)
        if "BAD" in self.w.text():
            raise RuntimeError(next(line for line in self.w.text().splitlines() if "BAD" in line))

    def measure(self):
        """The mean length of each step in two freezes, and the device memory in use without the workload."""
        spans = []
        for _ in range(2):
            agent = Agent(self.keeper, self.w)
            agent.run()
            if agent.end != "done":
                raise RuntimeError(f"a freeze without a kill: {agent.end}, see kills-agent.err")
            spans.append(agent.spans())
            self.keeper.connect(10)
            self.drop()
            self.more()
        self.spans = {step: (spans[0][step] + spans[1][step]) / 2 for step in STEPS}
        say("a freeze, ms: " + " ".join(f"{step} {span * 1e3:.1f}" for step, span in self.spans.items()) + f" = {sum(self.spans.values()) * 1e3:.1f}")
        self.w.end()
        before, self.base = None, used_mib()
        while self.base != before and time.time() < self.end:
            time.sleep(0.5)
            before, self.base = self.base, used_mib()
        say(f"GPU used/total MiB with the keeper alone {gpu_used()}")
        self.new_workload()

    def plan(self):
        """Kind, step, seconds from its beginning. Random moments of the whole freeze; further ones in each of the keeper's short steps."""
        kills = int(os.environ.get("KILLS", "30"))
        moment = lambda: ("attach", self.dice.uniform(0, sum(self.spans.values())))
        ends = [(WORKLOAD, *moment()) for _ in range(kills // 4)]
        moments = [moment() for _ in range(kills - len(ends))] + [(step, self.dice.uniform(0, self.spans[step])) for step in KEEPER_STEPS]
        kinds = [KINDS[i % len(KINDS)] for i in range(len(moments))]
        self.dice.shuffle(kinds)
        self.dice.shuffle(moments)
        others = [(kind, *when) for kind, when in zip(kinds, moments)]
        every = -(-len(others) // max(1, len(ends)))
        mixed = []
        for i, each in enumerate(others, 1):
            mixed.append(each)
            if ends and i % every == 0:
                mixed.append(ends.pop())
        return mixed + ends

    def one(self, kind, trigger, delay):
        """One round: the step that was hit, when, what was done, and whether all that must hold does."""
        step, ms, did = "?", 0.0, []
        try:
            holder = holder_of(self.keeper)
            if not holder:
                raise RuntimeError("the keeper has no second holder")
            agent = Agent(self.keeper, self.w)
            victims = {"keeper": [self.keeper.process.pid], "second holder": [holder], "agent": [agent.process.pid],
                       "keeper and agent": [self.keeper.process.pid, agent.process.pid], WORKLOAD: [self.w.pid]}[kind]
            step, ms = agent.run(trigger, delay, lambda: [os.kill(pid, signal.SIGKILL) for pid in victims])
            did.append(agent.end)
            if self.keeper.process.pid in victims:
                self.keeper.process.wait(SILENCE)
            if kind == WORKLOAD:
                self.w.process.wait(SILENCE)
                self.bury(did)
                return step, ms, did, True
            self.recover(did, agent.thread if agent.process.pid in victims else 0)
            dead = holder if kind == "second holder" else None
            until(lambda: holder_of(self.keeper) not in (None, dead) and self.keeper.tell("list")["holder"] == "yes", 10, "a second holder")
            if agent.end.startswith("hung"):
                raise RuntimeError(f"the agent {agent.end}")
            return step, ms, did, True
        except Exception as e:  # the next round may still say something
            did.append(f"{type(e).__name__}: {e}")
            return step, ms, did, False

    def recover(self, did, thread):
        """As the agent's rollback: gpu-restore, unlock, reload, and what it leaves of the keeper."""
        thawed = subprocess.run([PYTHON, f"{HERE}/direct_agent.py", TARGET, "thaw", str(self.w.pid), str(thread)], capture_output=True, text=True,
                                timeout=60)
        if thawed.returncode:
            raise RuntimeError(f"thaw: {(thawed.stderr.strip().splitlines() or ['no reason'])[-1]}")
        did.append(thawed.stdout.strip())
        if self.keeper.ended():
            self.new_keeper()
            did.append("new keeper")
        else:
            self.keeper.connect(10)
        state = self.keeper.tell("attach", self.name, self.w.pid, self.w.start)["state"]
        did.append(state)
        if state == "unloaded":
            self.keeper.tell("reload", self.name)
            did.append("reload")
        if self.keeper.tell("attach", self.name, self.w.pid, self.w.start)["state"] != "open":
            self.keeper.tell("open", self.name)
            did.append("open")
        self.more()
        self.drop()

    def bury(self, did):
        """The workload is dead: the keeper gives its memory back, and can be used for the next one."""
        self.keeper.connect(10)
        did.append("drop" if self.drop() else "nothing was held")
        did.append(f"{until_free(self.base)} MiB")
        self.new_workload()

    def clear(self):
        """Ends everything, also after a failure. A keeper that lives replaces its second holder."""
        for each in filter(None, (self.w, self.keeper)):
            each.process.kill()
            each.process.wait(SILENCE)
        holder = holder_of(self.keeper) if self.keeper else None
        if holder:
            os.kill(holder, signal.SIGKILL)
            until(lambda: holder_of(self.keeper) is None, 10, "the end of the second holder")

    def rounds(self):
        plan = self.plan()
        say(f"{'round':>5} {'killed':16} {'ms':>7} {'in progress':13} {'':4} freeze, recovery")
        for number, (kind, trigger, delay) in enumerate(plan, 1):
            if time.time() > self.end:
                say("no time left for more rounds")
                break
            step, ms, did, held = self.one(kind, trigger, delay)
            self.rows.append((kind, step, held))
            say(f"{number:5} {kind:16} {ms:7.1f} {step:13} {'ok' if held else 'FAIL':4} {'; '.join(did)}")
            if not held:
                self.clear()
                self.new_keeper()
                self.new_workload()
        for kind in (*KINDS, WORKLOAD):
            of_kind = [(step, held) for each, step, held in self.rows if each == kind]
            steps = collections.Counter(step for step, _ in of_kind)
            wrong = sum(not held for _, held in of_kind)
            text = "its memory was given back" if kind == WORKLOAD else "nothing was lost"
            check(not wrong, f"{kind} killed {len(of_kind)} times ({', '.join(f'{s} {n}' for s, n in steps.items())}): {text}, except {wrong} times")
        check(len(self.rows) == len(plan), f"{len(self.rows)} of {len(plan)} rounds")

    def finish(self):
        """Nothing is left, and the losses of all workloads are those of an uninterrupted run without the library."""
        self.w.end()
        self.drop()
        self.keeper.tell("quit")
        self.keeper.process.wait(SILENCE)
        until(lambda: holder_of(self.keeper) is None, 10, "the end of the second holder")
        say(f"keeper and second holder have ended; GPU used MiB {until_free(self.level)}, {self.level} before")
        bad = [w.log_path for w in self.lives if "BAD" in w.text()]
        check(not bad, f"every word of the ballast was right in {len(self.lives)} workloads, except {' '.join(bad) or 'none'}")
        ours = [w.losses() for w in self.lives]
        plain = Workload("kills-plain", f"{HERE}/direct_train.py", 0.25, max(map(len, ours)), library=False)
        try:
            plain.process.wait(max(20, min(90, ENDS - 10 - time.time())))
        except subprocess.TimeoutExpired:
            plain.end()
        theirs = plain.losses()
        compared, every = sum(min(len(each), len(theirs)) for each in ours), sum(map(len, ours))
        wrong = [w.log_path for w, each in zip(self.lives, ours) if each[:len(theirs)] != theirs[:len(each)]]
        check(compared == every > 0 and not wrong, f"{compared} of {every} losses of {len(ours)} workloads are those of an uninterrupted run, except "
              + (" ".join(wrong) or "none"))


def section_kills():
    if smi("persistence_mode") != "Enabled":
        os.environ["STASIS_CUINIT"] = "1"
    # As on a node: the driver stays initialized when the keeper's contexts end. It ends by itself after ten minutes.
    path = f"/tmp/stasis-direct-{os.getpid()}.anchor"
    with open(f"{OUT}/kills-anchor.log", "w") as log:
        started.append(subprocess.Popen([KEEPER, "anchor", path, "600000"], stdout=log, stderr=log))
    kills = Kills()
    try:
        until(lambda: os.path.exists(path), 30, "the anchor")
        kills.begin()
        kills.measure()
        kills.rounds()
        kills.finish()
    finally:
        kills.clear()
        if os.path.exists(path):
            os.unlink(path)
