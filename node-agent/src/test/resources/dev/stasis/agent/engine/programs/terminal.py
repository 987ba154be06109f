"""A terminal as Jupyter opens one, beside a GPU child."""
import os
import pty
import subprocess
import time

subprocess.Popen(["/bin/gpu-counter", "--mib", "8", "--interval-ms", "100"])
child, terminal = pty.fork()
if child == 0:
    while True:
        os.write(1, os.read(0, 100))
step = 0
while True:
    step += 1
    os.write(terminal, b"%d\n" % step)
    os.read(terminal, 100)
    with open("/data/progress", "a") as progress:
        progress.write(f"{step}\n")
    time.sleep(0.02)
