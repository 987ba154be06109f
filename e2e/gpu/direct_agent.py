"""An agent that can be killed while it freezes a workload in place: direct_agent.py TARGET_FOLDER MODE ARGUMENT...

freeze SOCKET NAME PID START prints "thread N" (the driver's own thread in the process), "begin STEP" before each step, and at the end
"done", or "failed STEP: REASON".
thaw PID THREAD undoes the driver's part of a freeze that did not end, and prints what it did. If a caller of the driver was killed,
THREAD is the driver's thread, else 0.
"""
import os
import sys
import time

from direct_parts import OUT, Connection, driver, driver_call, driver_value

STATES = ("running", "locked", "checkpointed", "failed")
# In their order. The agent attaches again because the connection is closed while CRIU dumps the process.
STEPS = {
    "attach": lambda keeper, name, pid, start: keeper.tell("attach", name, pid, start),
    "close": lambda keeper, name, pid, start: keeper.tell("close", name, 10000),
    "export": lambda keeper, name, pid, start: keeper.tell("export", name),
    "unload": lambda keeper, name, pid, start: keeper.tell("unload", name),
    "detach": lambda keeper, name, pid, start: keeper.tell("detach", name),
    "Lock": lambda keeper, name, pid, start: driver_call("Lock", pid, 10000),
    "Checkpoint": lambda keeper, name, pid, start: driver_call("Checkpoint", pid),
    "Restore": lambda keeper, name, pid, start: driver_call("Restore", pid),
    "Unlock": lambda keeper, name, pid, start: driver_call("Unlock", pid),
    "attach again": lambda keeper, name, pid, start: keeper.tell("attach", name, pid, start),
    "reload": lambda keeper, name, pid, start: keeper.tell("reload", name),
    "open": lambda keeper, name, pid, start: keeper.tell("open", name),
}
KEEPER_STEPS = [step for step in STEPS if step[0].islower()]  # the others are calls of the driver


def freeze(path, name, pid, start):
    keeper = Connection(path, open(f"{OUT}/kills-agent.log", "a"))
    keeper.connect(10)
    print(f"thread {driver_value('GetRestoreThreadId', int(pid))}", flush=True)
    for step, call in STEPS.items():
        print(f"begin {step}", flush=True)
        try:
            call(keeper, name, int(pid), start)
        except (RuntimeError, OSError) as e:
            print(f"failed {step}: {e}", flush=True)
            return
    print("done", flush=True)


def settle(pid, thread):
    """Waits until the driver's thread has slept for a second: it finishes what a killed caller began, and until then the state is wrong."""
    end, before, quiet = time.time() + 30, None, time.time()
    while time.time() < end:
        fields = open(f"/proc/{pid}/task/{thread}/stat").read().rsplit(")", 1)[1].split()
        now = fields[0], fields[11], fields[12]  # state, utime, stime
        if now[0] != "S" or now != before:
            before, quiet = now, time.time()
        elif time.time() - quiet >= 1:
            return
        time.sleep(0.05)
    raise RuntimeError(f"the driver's thread {thread} was still busy after 30 s: {before}")


def thaw(pid, thread):
    if thread:
        settle(pid, thread)
    state = STATES[driver_value("GetState", pid)]
    did = [state]
    if state == "checkpointed":
        driver_call("Restore", pid)
        did.append("Restore")
        state = "locked"
    if state == "locked":
        driver_call("Unlock", pid)
        did.append("Unlock")
    state = STATES[driver_value("GetState", pid)]
    if state != "running":
        raise RuntimeError(f"{' '.join(did)}: expected state running, got {state}")
    print(" ".join(did), flush=True)


def main():
    mode, arguments = sys.argv[2], sys.argv[3:]
    if os.environ.get("STASIS_CUINIT"):  # Restore needs it without persistence mode
        driver.cuInit(0)
    if mode == "freeze":
        freeze(*arguments)
    else:
        thaw(*(int(a) for a in arguments))


if __name__ == "__main__":
    main()
