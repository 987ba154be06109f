"""A Jupyter kernel and its client, which is what a notebook server is to it."""
import subprocess
import time

from jupyter_client import BlockingKernelClient, KernelManager

manager = KernelManager()
# The history is an SQLite database, which cannot be written after a restore: docs/compatibility.md.
manager.start_kernel(
    stderr=open("/data/kernel.log", "w"), extra_arguments=["--HistoryManager.enabled=False"]
)
client: BlockingKernelClient = manager.client()
client.start_channels()
client.wait_for_ready(timeout=120)


def run(code):
    answers = []
    reply = client.execute_interactive(
        code,
        timeout=120,
        output_hook=lambda message: answers.append(message["content"].get("text", "")),
    )
    if reply["content"]["status"] != "ok":
        print("BAD", reply["content"], flush=True)
    return "".join(answers).strip()


run("x = 0")
run("import subprocess, sys")
run("gpu = subprocess.Popen(['/bin/gpu-counter', '--mib', '8', '--interval-ms', '100'], stdout=open('/proc/1/fd/1', 'w'))")
step = 0
while True:
    step += 1
    got = run("x += 1; print(x)")
    if got != str(step):
        print("BAD answer", got, step, flush=True)
    with open("/data/progress", "a") as progress:
        progress.write(f"{step}\n")
    time.sleep(0.02)
