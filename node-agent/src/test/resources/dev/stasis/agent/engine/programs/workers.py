"""Persistent workers as a DataLoader has them: queues, semaphores, shared memory, a GPU child."""
import multiprocessing as mp
import multiprocessing.shared_memory as shm
import subprocess
import sys
import time


def work(jobs, results, name, lock, total):
    memory = shm.SharedMemory(name)
    while True:
        slot, value = jobs.get()
        memory.buf[slot * 8 : slot * 8 + 8] = (value * 3).to_bytes(8, "little")
        with lock:
            total.value += 1
        results.put((slot, value))


def main():
    context = mp.get_context(sys.argv[1])
    jobs, results = context.Queue(), context.Queue()
    lock, total = context.Lock(), context.Value("q", 0)
    memory = shm.SharedMemory(create=True, size=4096)
    for _ in range(4):
        context.Process(
            target=work, args=(jobs, results, memory.name, lock, total), daemon=True
        ).start()
    subprocess.Popen(["/bin/gpu-counter", "--mib", "8", "--interval-ms", "100"])
    step = 0
    while True:
        for slot in range(8):
            jobs.put((slot, step * 8 + slot))
        for _ in range(8):
            slot, value = results.get(timeout=120)
            got = int.from_bytes(memory.buf[slot * 8 : slot * 8 + 8], "little")
            if got != value * 3:
                print("BAD shared memory", slot, got, value, flush=True)
        step += 1
        if total.value != step * 8:
            print("BAD total", total.value, step, flush=True)
        with open("/data/progress", "a") as progress:
            progress.write(f"{step}\n")
        time.sleep(0.02)


if __name__ == "__main__":
    main()
