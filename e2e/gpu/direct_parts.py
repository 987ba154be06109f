"""What e2e/gpu/direct.py is made of: the keeper, a workload with the library, the driver's checkpoint calls."""
import ctypes
import functools
import os
import signal
import socket
import subprocess
import sys
import time

TARGET = os.path.abspath(sys.argv[1])
OUT = os.environ["OUT"] + "/logs"
PYTHON = os.environ["PYTHON"]
LIBRARY, KEEPER = f"{TARGET}/libstasis-gate.so", f"{TARGET}/stasis-keeper"
ENDS = time.time() + float(os.environ.get("LIMIT", "540")) - 20
failures = []
started = []


def say(text):
    print(text, flush=True)


def check(held, what):
    say(f"{'ok  ' if held else 'FAIL'} {what}")
    if not held:
        failures.append(what)
    return held


def real_driver():
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") + [
            "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/nvidia/lib64", "/usr/local/cuda/compat"]:
        if folder and os.path.exists(f"{folder}/libcuda.so.1"):
            return f"{folder}/libcuda.so.1"
    sys.exit("no libcuda.so.1 found")


DRIVER_PATH = real_driver()
driver = ctypes.CDLL(DRIVER_PATH)


def driver_call(name, pid, timeout_ms=0):
    """The result, and how many milliseconds it took."""
    arguments = (ctypes.c_uint32 * 16)()
    arguments[0] = timeout_ms
    began = time.perf_counter()
    result = getattr(driver, f"cuCheckpointProcess{name}")(pid, arguments)
    took = (time.perf_counter() - began) * 1e3
    if result:
        raise RuntimeError(f"{name}: result {result}")
    return took


def driver_value(name, pid):
    value = ctypes.c_int()
    result = getattr(driver, f"cuCheckpointProcess{name}")(pid, ctypes.byref(value))
    if result:
        raise RuntimeError(f"{name}: result {result}")
    return value.value


def smi(query):
    """The first GPU's answer to a query of nvidia-smi."""
    out = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits"], capture_output=True, text=True, timeout=60)
    return out.stdout.strip().split("\n")[0]


def gpu_used():
    return smi("memory.used,memory.total")


@functools.cache
def gpus():
    return subprocess.run(["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"], capture_output=True, text=True).stdout.split()


class Connection:
    """To the keeper at that path. The keeper serves the newest one only."""

    def __init__(self, path, log):
        self.path = path
        self.log = log

    def ended(self):
        return False

    def connect(self, seconds):
        end = time.time() + seconds
        while True:
            self.socket = socket.socket(socket.AF_UNIX)
            try:
                self.socket.connect(self.path)
                self.socket.settimeout(120)
                return
            except OSError:
                if time.time() > end or self.ended():
                    raise RuntimeError(f"the keeper did not start: see {self.log.name}")
                time.sleep(0.005)

    def tell(self, *words):
        """The answer's fields, and how many milliseconds it took."""
        began = time.perf_counter()
        self.socket.sendall((" ".join(str(w) for w in words) + "\n").encode())
        answer = b""
        while not answer.endswith(b"\n"):
            more = self.socket.recv(65536)
            if not more:
                raise RuntimeError(f"{words}: the keeper is gone")
            answer += more
        took = (time.perf_counter() - began) * 1e3
        answer = answer.decode().strip()
        print(f"{time.time():.3f} {' '.join(str(w) for w in words)} -> {answer}", file=self.log, flush=True)
        if not answer.startswith("ok"):
            raise RuntimeError(f"{' '.join(str(w) for w in words)}: {answer}")
        fields = dict(f.split("=", 1) for f in answer.split()[1:] if "=" in f)
        fields["ms"] = took
        return fields


class Keeper(Connection):
    def __init__(self, name="keeper"):
        super().__init__(f"/tmp/stasis-direct-{os.getpid()}.{name}", open(f"{OUT}/{name}.log", "a"))
        began = time.perf_counter()
        self.process = subprocess.Popen([KEEPER, "serve", "--socket", self.path], stderr=self.log, stdout=self.log)
        started.append(self.process)
        self.connect(30)
        for uuid in gpus():
            self.tell("use", uuid)
        self.took = time.perf_counter() - began

    def ended(self):
        return self.process.poll() is not None


class Workload:
    def __init__(self, name, *arguments, library=True, environment=None, stdin=None):
        self.log_path = f"{OUT}/{name}.log"
        self.log = open(self.log_path, "w")
        env = dict(os.environ, **(environment or {}))
        if library:
            env["LD_PRELOAD"] = LIBRARY
            env["STASIS_REAL_LIBCUDA"] = DRIVER_PATH
        self.process = subprocess.Popen([PYTHON, "-u", *[str(a) for a in arguments]], stdin=stdin, stdout=self.log, stderr=subprocess.STDOUT,
                                        env=env, start_new_session=True)
        self.pid = self.process.pid
        started.append(self.process)

    @property
    def start(self):
        return open(f"/proc/{self.pid}/stat").read().rsplit(")", 1)[1].split()[19]

    def text(self):
        return open(self.log_path).read()

    def steps(self):
        return self.text().count(" ok\n")

    def losses(self):
        """Of its good steps; the last line of one that was killed may be cut off."""
        return [line.split()[3] for line in self.text().splitlines() if line.startswith("step ") and line.endswith(" ok")]

    def wait(self, condition, seconds, what):
        end = time.time() + seconds
        while not condition():
            if self.process.poll() is not None and not condition():
                raise RuntimeError(f"{what}: the program ended with {self.process.returncode}: {self.text()[-600:]}")
            if time.time() > end:
                raise RuntimeError(f"{what}: not within {seconds} s: {self.text()[-600:]}")
            time.sleep(0.01)

    def more(self, n, seconds=60):
        wanted = self.steps() + n
        self.wait(lambda: self.steps() >= wanted or "BAD" in self.text(), seconds, f"{n} more steps")

    def end(self):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
