"""Drives the direct data path on a real GPU: direct.py TARGET_FOLDER [SECTION...]. See e2e/gpu/direct.

Plays the agent: keeper and library do what they will do in a cluster, and the driver's checkpoint calls are made from here.
"""
import os
import re
import statistics
import subprocess
import sys
import time

from direct_kills import section_kills  # main() finds the sections by their names
from direct_overhead import section_overhead
from direct_parts import DRIVER_PATH, ENDS, LIBRARY, PYTHON, Keeper, Workload, check, driver_call, failures, gpu_used, gpus, say, started

HERE = os.path.dirname(os.path.abspath(__file__))


def freeze(keeper, w, name="w"):
    """One checkpoint in place without criu; the times of its steps in ms."""
    t = {}
    began = time.perf_counter()
    answer = keeper.tell("close", name, 10000)
    t["close"] = answer["ms"]
    t["export"] = keeper.tell("export", name)["ms"]
    t["unload"] = keeper.tell("unload", name)["ms"]
    keeper.tell("detach", name)
    t["Lock"] = driver_call("Lock", w.pid, 10000)
    t["Checkpoint"] = driver_call("Checkpoint", w.pid)
    t["Restore"] = driver_call("Restore", w.pid)
    t["Unlock"] = driver_call("Unlock", w.pid)
    t["attach"] = keeper.tell("attach", name, w.pid, w.start)["ms"]
    t["reload"] = keeper.tell("reload", name)["ms"]
    t["open"] = keeper.tell("open", name)["ms"]
    t["frozen"] = (time.perf_counter() - began) * 1e3
    return t, answer


def section_names():
    """Which functions the driver exports that the library has no entry for."""
    def exported(path):
        out = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True).stdout
        return {line.split()[2].split("@")[0] for line in out.splitlines() if len(line.split()) == 3 and line.split()[1] in "TtWi"}
    theirs, ours = exported(DRIVER_PATH), exported(LIBRARY)
    say(f"driver {DRIVER_PATH} exports {len(theirs)} functions, the library {len(ours)}")
    # A debugger finds cudbg* in the driver's own file.
    missing = sorted(n for n in theirs - ours if n.startswith("cu") and not n.startswith("cudbg"))
    say(f"without an entry: {' '.join(missing) or 'none'}")
    say(f"newer than the driver: {len(ours - theirs)}")
    check(not theirs or not missing, "every function of the driver has an entry")


SMOKE = """
import torch
x = torch.arange(1 << 26, dtype=torch.float32, device='cuda'); y = (x * 2).sum(); p = x.cpu().pin_memory()
z = p.to('cuda', non_blocking=True); torch.cuda.synchronize()
g = torch.cuda.CUDAGraph(); s = torch.zeros(1 << 20, device='cuda')
with torch.cuda.graph(g): s += 1
for _ in range(10): g.replay()
torch.cuda.synchronize(); del x; torch.cuda.empty_cache()
print('good', float(s[0]) == 10.0, bool((z[:100].cpu() == p[:100]).all()), torch.cuda.memory_reserved() >> 20, 'MiB')
"""


def section_smoke():
    for name, allocator in (("default", None), ("expandable", "expandable_segments:True"), ("mallocasync", "backend:cudaMallocAsync")):
        env = {"PYTORCH_CUDA_ALLOC_CONF": allocator} if allocator else {}
        w = Workload(f"smoke-{name}", "-c", SMOKE, environment=env)
        try:
            w.process.wait(60)
        except subprocess.TimeoutExpired:
            w.end()
        check("good True True" in w.text(), f"PyTorch, allocator {name}: {w.text().strip()[-200:]}")


def compare(w, gib, loader=()):
    """The losses of an uninterrupted run without the library, as far as both go."""
    n = w.steps()
    plain = Workload(f"plain-{gib}", f"{HERE}/direct_train.py", min(gib, 1), min(n, 400), *loader, library=False)
    try:
        plain.process.wait(60)
    except subprocess.TimeoutExpired:
        plain.end()
    theirs = plain.losses()
    ours = w.losses()[:len(theirs)]
    check(len(theirs) > 0 and ours == theirs[:len(ours)], f"{gib} GiB: {len(ours)} losses are those of an uninterrupted run")


def section_sizes():
    keeper = Keeper()
    say(f"keeper started in {keeper.took:.2f} s: {keeper.tell('list')}")
    rounds = int(os.environ.get("ROUNDS", "5"))
    for gib in (int(s) for s in os.environ.get("SIZES", "1 8 16 32 48").split()):
        if time.time() > ENDS - 150:
            say(f"no time left for {gib} GiB")
            continue
        try:
            one_size(keeper, gib, rounds)
        except RuntimeError as e:
            check(False, f"{gib} GiB: {e}")
            keeper = Keeper(name=f"keeper-after-{gib}")


def one_size(keeper, gib, rounds):
    w = Workload(f"train-{gib}", f"{HERE}/direct_train.py", gib, 100000)
    w.wait(lambda: w.steps() > 5, 60, "start")
    pieces = int(re.search(r"pieces (\d+)", w.text()).group(1))
    say(f"-- {gib} GiB in {pieces} pieces, GPU used/total MiB {gpu_used()}")
    say(f"attach: {keeper.tell('attach', 'w', w.pid, w.start)}")
    all_rounds = []
    for r in range(rounds):
        t, answer = freeze(keeper, w)
        all_rounds.append(t)
        say("   " + " ".join(f"{k} {v:.1f}" for k, v in t.items()) + f" blocks {answer['blocks']} bytes {answer['bytes']} notes {answer['notes']}")
        w.more(pieces + 2)
    say(f"median of {rounds}, ms: " + " ".join(f"{k} {statistics.median(t[k] for t in all_rounds):.1f}" for k in all_rounds[0]))
    check("BAD" not in w.text(), f"{gib} GiB: every word of the ballast was right after each of {rounds} rounds")
    copies(keeper, w, gib, pieces)
    check("BAD" not in w.text(), f"{gib} GiB: right after the copies")
    compare(w, gib)
    w.end()
    keeper.tell("drop", "w")


def copies(keeper, w, gib, pieces):
    """Snapshot, staging, files and back: once."""
    free_shm = os.statvfs("/dev/shm").f_bavail * os.statvfs("/dev/shm").f_frsize >> 30
    folder = "/dev/shm" if free_shm > gib + 4 else "/var/tmp"
    if gib > 16:
        return
    path = f"{folder}/stasis-direct-{os.getpid()}"
    room = folder == "/dev/shm" and keeper.tell("room", gpus()[0], keeper.tell("status", "w")["bytes"], path + "-room")
    began = time.perf_counter()
    keeper.tell("close", "w", 10000), keeper.tell("export", "w"), keeper.tell("unload", "w")
    saved = keeper.tell("save", "w", path)
    evicted = time.perf_counter() - began
    gb = int(saved["bytes"]) / 1e9
    say(f"   save to {folder}: {saved['ms']:.0f} ms, {gb / saved['ms'] * 1e3:.1f} GB/s; closed, exported, unloaded and saved "
        f"in {evicted:.2f} s (Checkpoint and dump run beside it)")
    if room:
        staged = keeper.tell("stage", "w", path + "-room")
        say(f"   room made in {room['ms']:.0f} ms; copied into it in {staged['ms']:.0f} ms, {gb / staged['ms'] * 1e3:.1f} GB/s")
    # Everything is let go of: the file alone has the content.
    keeper.tell("drop", "w")
    say(f"   GPU used/total MiB while unloaded and dropped: {gpu_used()}")
    keeper.tell("attach", "w", w.pid, w.start)
    loaded = keeper.tell("reload", "w", path)
    say(f"   reload from the file: {loaded['ms']:.0f} ms, {gb / loaded['ms'] * 1e3:.1f} GB/s, digests checked")
    keeper.tell("open", "w")
    w.more(pieces + 2)
    for suffix in (".data", ".chunks"):
        os.unlink(path + suffix)
    keeper.tell("close", "w", 10000), keeper.tell("export", "w"), keeper.tell("unload", "w")
    try:
        say(f"   snapshot on the GPU: {keeper.tell('snapshot', 'w', 1024)['ms']:.1f} ms")
    except RuntimeError as e:
        say(f"   no snapshot: {e}")
    keeper.tell("reload", "w"), keeper.tell("open", "w")
    w.more(pieces + 2)


def section_gate():
    """How long draining takes, in a launch-bound loop and in a training with forked loader workers."""
    keeper = Keeper("keeper-gate")
    for name, arguments, seconds in (("loop", (f"{HERE}/direct_loop.py", 100000), 8), ("loader", (f"{HERE}/direct_train.py", 0.25, 100000, "loader"), 12)):
        w = Workload(f"gate-{name}", *arguments)
        if name == "loader":
            w.wait(lambda: w.steps() > 5, 60, "start")
        else:
            time.sleep(10)
        keeper.tell("attach", "w", w.pid, w.start)
        drained, wrong, end = [], 0, time.time() + seconds
        while time.time() < end:
            try:
                answer = keeper.tell("close", "w", 5000)
                drained.append(int(answer["gate_us"]) / 1e3)
                keeper.tell("open", "w")
            except RuntimeError as e:
                wrong += 1
                say(f"   {e}")
            time.sleep(0.03)
        drained.sort()
        say(f"{name}: closed {len(drained)} times, drained ms: p50 {drained[len(drained) // 2]:.2f} p99 {drained[int(len(drained) * .99)]:.2f} worst {drained[-1]:.2f}; refused {wrong}")
        check(w.process.poll() is None and len(drained) > 20 and "BAD" not in w.text(), f"{name} runs on after all that")
        if name == "loader":
            compare(w, 0.25, ("loader",))
        w.end()
        keeper.tell("drop", "w")


def section_killed():
    """The keeper is killed while it alone holds the memory; another one takes it from the second holder."""
    keeper = Keeper("keeper-killed")
    w = Workload("killed", f"{HERE}/direct_train.py", 4, 100000)
    w.wait(lambda: w.steps() > 5, 60, "start")
    keeper.tell("attach", "w", w.pid, w.start)
    keeper.tell("close", "w", 10000), keeper.tell("export", "w"), keeper.tell("unload", "w"), keeper.tell("detach", "w")
    driver_call("Lock", w.pid, 10000)
    driver_call("Checkpoint", w.pid)
    used = gpu_used()
    keeper.process.kill()
    keeper.process.wait()
    time.sleep(1)
    say(f"GPU used/total MiB with keeper {used}, with the descriptors alone {gpu_used()}")
    keeper = Keeper("keeper-killed")
    say(f"recovered: {keeper.tell('list')}")
    driver_call("Restore", w.pid)
    driver_call("Unlock", w.pid)
    keeper.tell("attach", "w", w.pid, w.start)
    keeper.tell("reload", "w")
    keeper.tell("open", "w")
    w.more(70)
    check("BAD" not in w.text(), "keeper killed while unloaded: nothing is lost")
    # Silence before anything was unloaded: the gate opens by itself.
    keeper.tell("close", "w", 10000)
    began, steps = time.time(), w.steps()
    w.wait(lambda: w.steps() > steps + 2, 20, "the dead man's switch")
    check(8 < time.time() - began < 14, f"silence: the gate opened by itself after {time.time() - began:.1f} s")
    w.end()
    keeper.tell("drop", "w")


def other(name, module, script):
    if subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, timeout=60).returncode:
        say(f"skipped {name}: this python has no {module}")
        return
    keeper = Keeper(f"keeper-{name}")
    w = Workload(name, f"{HERE}/{script}")
    w.wait(lambda: w.steps() > 3, 90, "start")
    keeper.tell("attach", "w", w.pid, w.start)
    for _ in range(3):
        t, answer = freeze(keeper, w)
        say(f"   {name}: frozen {t['frozen']:.0f} ms, blocks {answer['blocks']} bytes {answer['bytes']} notes {answer['notes']}")
        w.more(5)
    check("BAD" not in w.text(), f"{name}: right after three rounds")
    w.end()
    keeper.tell("drop", "w")


def section_jax():
    other("jax", "jax", "jax_count.py")


def section_cupy():
    other("cupy", "cupy", "cupy_count.py")


def main():
    say(f"date {time.strftime('%Y-%m-%dT%H:%MZ', time.gmtime())}; kernel {os.uname().release}; {os.cpu_count()} cores; thp "
        + open("/sys/kernel/mm/transparent_hugepage/enabled").read().strip())
    say(subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip())
    say(subprocess.run([PYTHON, "-c", "import torch; print('torch', torch.__version__, 'cuda', torch.version.cuda)"], capture_output=True, text=True).stdout.strip())
    for name in sys.argv[2:] or ["names", "overhead", "sizes", "gate", "killed", "smoke", "jax", "cupy"]:
        say(f"\n== {name} ({ENDS - time.time():.0f} s left)")
        if time.time() > ENDS - 20:
            say("no time left")
            continue
        try:
            globals()[f"section_{name}"]()
        except Exception as e:  # the next section may still say something
            check(False, f"{name}: {type(e).__name__}: {e}")
        for process in started:
            if process.poll() is None:
                process.kill()
                process.wait()
    say(f"\n{len(failures)} failed" + "".join(f"\n  {f}" for f in failures))
    return 1 if failures else 0


try:
    code = main()
finally:
    for process in started:
        if process.poll() is None:
            process.kill()
sys.exit(code)
