"""Two ordinary PyTorch processes, a GPU each: two.py GIB."""
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
children = [subprocess.Popen([sys.executable, "-u", here + "/count.py", sys.argv[1], str(gpu)]) for gpu in (0, 1)]
sys.exit(max(child.wait() for child in children))
