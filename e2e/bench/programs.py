"""The programs that are measured: in a container made by runc, or as an ordinary process. Their own lines say whether
they are right."""
import os
import shutil
import signal
import subprocess
import time

FULL_CHECK_EVERY = 16  # steps of gpu-counter
BOX_BASH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu", "box.bash")


class Wrong(Exception):
    """What was measured must not count: something did not go as it has to."""


def counter(program, mib, device=0):
    return [program, "--mib", str(mib), "--interval-ms", "50", "--device", str(device)]


def in_box(mib):
    return counter("/data/programs/gpu-counter", mib)


def two_in_box(mib):
    """Two processes, a GPU each, in one container."""
    first, second = (" ".join(counter("/data/programs/gpu-counter", mib, device)) for device in (0, 1))
    return ["/bin/sh", "-c", f"{second} & exec {first}"]


class Program:
    """A running program and its log."""

    def __init__(self, log):
        self.log = log

    def lines(self):
        try:
            with open(self.log, errors="replace") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def steps(self):
        lines = self.lines()
        for line in lines:
            if "BAD" in line:
                raise Wrong(f"the program says: {line}")
        return sum(1 for line in lines if line.endswith(" ok"))

    def await_steps(self, more, seconds, least=0):
        """Waits for so many further right lines, and until there are at least so many."""
        wanted, end = max(self.steps() + more, least), time.monotonic() + seconds
        while self.steps() < wanted:
            if time.monotonic() > end:
                raise Wrong(f"no further steps within {seconds:.0f} s; the last: {' | '.join(self.lines()[-3:])}")
            time.sleep(0.02)

    def await_full_check(self, seconds, processes=1):
        """Every byte of device memory is compared in every 16th step; waits until one such step has been made."""
        per = self.steps() // processes
        self.await_steps(2, seconds, ((per // FULL_CHECK_EVERY + 1) * FULL_CHECK_EVERY + 1) * processes)


class Process(Program):
    """An ordinary process, as somebody at a shell would freeze it."""

    def __init__(self, tools, folder, mib):
        super().__init__(os.path.join(folder, "plain.log"))
        if os.path.exists(self.log):
            os.remove(self.log)
        with open(self.log, "w") as out:
            self.popen = subprocess.Popen(
                counter(tools.programs + "/gpu-counter", mib), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                start_new_session=True, cwd="/", env=tools.plain_environment())
        self.pid = self.popen.pid

    def gone(self):
        """Waits for its end (criu has killed it) and reaps it."""
        self.popen.wait(60)

    def close(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        await_end(self.pid)


class Box(Program):
    """A container made by runc."""

    made = []

    def __init__(self, tools, name, gpus, kind, command):
        super().__init__(os.path.join(tools.work, name, "log"))
        self.tools, self.name, self.pid = tools, name, 0
        self.folder = os.path.join(tools.work, name)
        Box.made.append(self)
        self.bash("box_start", name, gpus, kind, *command)
        with open(self.folder + "/id") as file:
            self.id = file.read().strip()
        with open(self.folder + "/pid") as file:
            self.pid = int(file.read())

    def bash(self, *words):
        done = subprocess.run(
            ["bash", "-c", '. "$0" && "$@"', BOX_BASH, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60, env=self.tools.box_environment())
        if done.returncode:
            raise Wrong(f"{' '.join(words[:2])}: {done.stderr.strip()[-300:]}")

    def close(self):
        if self not in Box.made:
            return
        Box.made.remove(self)
        self.bash("box_end", self.name)
        if self.pid:
            await_end(self.pid)


def await_end(pid):
    """Waits for the end of a killed process, which is our child where its parent has ended. Giving back a hundred
    gigabytes takes the kernel seconds."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if os.waitpid(pid, os.WNOHANG)[0] == pid:
                return
        except ChildProcessError:
            if not os.path.isdir(f"/proc/{pid}"):
                return
        time.sleep(0.02)


def empty(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder
