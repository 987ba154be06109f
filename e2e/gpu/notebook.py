"""A notebook: a Jupyter kernel that holds tensors on the GPU, and its client: notebook.py MODULES GIB. A wrong answer is BAD."""
import os
import sys

sys.path.insert(0, sys.argv[1])
os.environ["PYTHONPATH"] = sys.argv[1]
from jupyter_client import KernelManager

manager = KernelManager()
# The history is an SQLite database, which cannot be written after a restore: docs/compatibility.md.
manager.start_kernel(stderr=open("/tmp/kernel.log", "w"), extra_arguments=["--HistoryManager.enabled=False"])
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=120)


def run(cell):
    answers = []
    reply = client.execute_interactive(cell, timeout=120, output_hook=lambda message: answers.append(message["content"].get("text", "")))
    if reply["content"]["status"] != "ok":
        print("BAD cell", reply["content"], flush=True)
    return "".join(answers).strip()


run(f"import time, torch; x = 0; blocks = [torch.full((int({sys.argv[2]} * 2**30 / 8 / 4),), float(i), device='cuda') for i in range(8)]")
step = 0
while True:
    step += 1
    got = run("x += 1\nfor b in blocks: b += 1\ntime.sleep(0.2)\nprint(x, all(bool((b == i + x).all().item()) for i, b in enumerate(blocks)))")
    print(f"step {step} the kernel says {got} {'ok' if got == f'{step} True' else 'BAD'}", flush=True)
