"""Which things end a process with a long kernel that the driver has resumed? preemption.py OUT; as root, with nvcc, one GPU or two.

The driver's calls alone, without Stasis (docs/compatibility.md, long kernels). Each line is a case: what was done during a kernel of
that many seconds, how long it took, and whether the process went on.
"""
import ctypes
import os
import subprocess
import sys
import tempfile
import time

FOLDER = tempfile.mkdtemp(prefix="preemption.")
PROGRAM = os.path.join(FOLDER, "preemption")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "preemption.cu")
# A caller of its own, which has not initialized the driver: a worker of a moment.
CALL = """
import ctypes, sys
c = ctypes.CDLL("libcuda.so.1")
for name in sys.argv[2:]:
    a = (ctypes.c_uint64 * 32)()
    a[0] = 20000 if name == "Lock" else 0
    r = c.cuInit(0) if name == "Init" else getattr(c, "cuCheckpointProcess" + name)(int(sys.argv[1]), a)
    assert r == 0, (name, r)
"""
WAIT = "import ctypes, time; c = ctypes.CDLL('libcuda.so.1'); print(c.cuInit(0), flush=True); time.sleep(300)"


class Program:
    """One that runs kernels as long as told."""

    number = 0

    def __init__(self, gpu=0):
        Program.number += 1
        self.file = os.path.join(FOLDER, f"{Program.number}.seconds")
        self.log = os.path.join(FOLDER, f"{Program.number}.log")
        self.last(0)
        self.process = subprocess.Popen([PROGRAM, self.file], stdout=open(self.log, "w"), env=dict(os.environ, CUDA_VISIBLE_DEVICES=str(gpu)))
        self.until("ready", 1, 30)

    def last(self, seconds):
        with open(self.file, "w") as f:
            f.write(str(seconds))

    def lines(self, word):
        return [float(line.split()[0]) for line in open(self.log) if f" {word}" in line]

    def alive(self):
        return self.process.poll() is None

    def until(self, word, count, limit):
        end = time.time() + limit
        while time.time() < end and self.alive() and len(self.lines(word)) < count:
            time.sleep(0.01)

    def launch(self, seconds):
        before = len(self.lines("launch"))
        self.last(seconds)
        self.until("launch", before + 1, 30)
        self.last(0)
        time.sleep(0.3)

    def goes_on(self):
        self.until("step", len(self.lines("launch")), 30)
        return self.alive() and len(self.lines("step")) == len(self.lines("launch"))

    def end(self):
        if self.alive():
            self.process.kill()
        self.process.wait()


def calls(program, *names):
    subprocess.run([sys.executable, "-c", CALL, str(program.process.pid), *names], check=True)


def resume(program):
    calls(program, "Init", "Lock", "Checkpoint", "Restore", "Unlock")


def case(out, what, seconds, act, resumed=True, beside=None, gpu=0):
    a = Program()
    b = Program(gpu) if beside else None
    if resumed:
        resume(a)
    a.launch(seconds)
    begin = time.time()
    detail = act(b) or ""
    took = time.time() - begin
    fine = a.goes_on()
    if beside == "busy":
        waits = zip(b.lines("launch"), b.lines("step"))
        detail = f", longest wait of the other one {max(end - begin for begin, end in waits):.2f} s"
    xids = subprocess.run("dmesg | grep -c 'Xid.*: 109'", shell=True, capture_output=True, text=True).stdout.strip()
    print(f"{what}; kernel of {seconds} s{'' if resumed else ', never checkpointed'}: took {took:.2f} s{detail}, {'goes on' if fine else 'ENDED'}, Xid 109 so far: {xids}", file=out, flush=True)
    a.end()
    if b:
        b.end()


def busy(b):
    b.last(0.005)
    time.sleep(3)


def starts(_):
    Program().end()


def first_user(b):
    calls(b, "Lock", "Checkpoint", "Init", "Restore", "Unlock")


def main():
    subprocess.run(["nvcc", "-O1", "-arch=native", "-o", PROGRAM, SOURCE], check=True)
    gpus = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.split("\n")[:-1]
    with open(sys.argv[1], "a") as out:
        print(gpus, file=out)
        if len(gpus) > 1:
            for seconds in (3, 8):
                case(out, "neighbor on another GPU resumed, the first user of its GPU", seconds, first_user, beside="idle", gpu=1)
        initialized = subprocess.Popen([sys.executable, "-c", WAIT], stdout=subprocess.PIPE)
        initialized.stdout.readline()
        print("From here on another process has the driver initialized on all GPUs.", file=out)
        if len(gpus) > 1:
            for seconds in (3, 8):
                case(out, "neighbor on another GPU resumed", seconds, first_user, beside="idle", gpu=1)
        case(out, "busy process on the same GPU", 3, busy, resumed=False, beside="busy")
        case(out, "busy process on the same GPU", 3, busy, beside="busy")
        case(out, "busy process on the same GPU", 8, busy, beside="busy")
        case(out, "nothing", 8, lambda b: "")
        case(out, "idle process on the same GPU", 8, lambda b: "", beside="idle")
        case(out, "process that starts on the same GPU and ends", 8, starts)
        case(out, "process that starts on the same GPU and ends", 8, starts, resumed=False)
        initialized.kill()


main()
