"""What the machine is like, and what of it the benchmark uses and gives back."""
import ctypes
import datetime
import mmap
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time

THP = "/sys/kernel/mm/transparent_hugepage/enabled"


def meminfo():
    with open("/proc/meminfo") as file:
        return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in file}


def first_line(command):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
        return (done.stdout + done.stderr).strip().splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return "unknown"


def cpu():
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")


def facts(tools, gpus):
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ"),
        "gpus": gpus.get("gpus", []), "driver": gpus.get("driver"), "cuda": gpus.get("cuda"),
        "simulated": tools.simulated,
        "kernel": os.uname().release, "cpu": cpu(), "cores": os.cpu_count(), "memoryBytes": meminfo()["MemTotal"],
        "cgroup": "v2" if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else "v1",
        "thp": open(THP).read().strip() if os.path.exists(THP) else "none",
        "criu": first_line([tools.criu, "--version"]) + (" (by hand: without our patch)" if tools.plugin else " (by hand: with our patch)"), "runc": first_line([tools.runc, "--version"]),
        "java": first_line([tools.java, "-version"]),
    }


class Scratch:
    """A folder with a tmpfs in it, both gone at the end, and the huge page setting as it was found."""

    def __init__(self, huge, folder):
        self.path = tempfile.mkdtemp(prefix="stasis-bench.", dir="/var/tmp")
        self.thp = re.search(r"\[(\w+)\]", open(THP).read()).group(1) if os.path.exists(THP) else None
        self.mounted = None
        if folder:
            self.images = tempfile.mkdtemp(prefix="stasis-bench.", dir=folder)
            return
        self.images = self.mounted = self.path + "/mem"
        os.mkdir(self.mounted)
        size = int(meminfo()["MemTotal"] * 0.95)
        for options in (f"huge={huge},size={size}", f"size={size}"):
            mount = ["mount", "-t", "tmpfs", "-o", options, "stasis-bench", self.mounted]
            if subprocess.run(mount, timeout=20).returncode == 0:
                return
        raise SystemExit("bench: no tmpfs could be mounted; it wants to run as root")

    def sub(self, name, on_images=False):
        folder = os.path.join(self.images if on_images else self.path, name)
        os.makedirs(folder, exist_ok=True)
        return folder

    def used(self):
        """Bytes that lie on the tmpfs, which is memory but not ours to be counted."""
        if not self.mounted:
            return 0
        s = os.statvfs(self.mounted)
        return (s.f_blocks - s.f_bfree) * s.f_frsize

    def close(self):
        if self.thp and f"[{self.thp}]" not in open(THP).read():
            with open(THP, "w") as file:
                file.write(self.thp)
        if self.mounted:
            if subprocess.run(["umount", self.mounted], timeout=60, stderr=subprocess.DEVNULL).returncode != 0:
                subprocess.run(["umount", "-l", self.mounted], timeout=60)
        else:
            shutil.rmtree(self.images, ignore_errors=True)
        shutil.rmtree(self.path, ignore_errors=True)


def touch_memory(wanted):
    """A fresh virtual machine hands out memory slowly: touch once what will be used. Returns bytes and seconds."""
    total = max(0, min(int(wanted), meminfo()["MemAvailable"] - (6 << 30)))
    parts = min(os.cpu_count() or 1, 8)
    begin = time.monotonic()
    children = []
    for _ in range(parts if total else 0):
        pid = os.fork()
        if pid == 0:
            try:
                # 0x8000: MAP_POPULATE.
                mmap.mmap(-1, max(total // parts, 4096), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x8000)
            finally:
                os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    return total, time.monotonic() - begin


def adopt_orphans():
    """What criu restores becomes our child, so that its end can be waited for. 36: PR_SET_CHILD_SUBREAPER."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


class MemorySampler:
    """The most memory that was in use above a process's own while something ran: anonymous and shared memory, less what
    the process itself grew by, less what lies in the store. Sampled every 10 ms."""

    def __init__(self, pid, scratch):
        self.pid, self.scratch, self.most, self.ended = pid, scratch, 0, threading.Event()

    def own(self):
        try:
            with open(f"/proc/{self.pid}/statm") as file:
                words = file.read().split()
            return (int(words[1]) - int(words[2])) * 4096
        except OSError:
            return 0

    def above(self):
        own, stored = self.own(), self.scratch.used()
        info = meminfo()
        # The process grows while it is read: the mean of before and after is nearest to the moment in between.
        own, stored = (own + self.own()) / 2, (stored + self.scratch.used()) / 2
        return info["AnonPages"] + info["Shmem"] - own - stored

    def __enter__(self):
        self.base = self.above()
        self.thread = threading.Thread(target=self.sample, daemon=True)
        self.thread.start()
        return self

    def sample(self):
        while not self.ended.wait(0.01):
            self.most = max(self.most, self.above() - self.base)

    def __exit__(self, *error):
        self.ended.set()
        self.thread.join(5)
