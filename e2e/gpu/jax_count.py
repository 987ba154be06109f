"""An ordinary JAX program: jax_count.py [CUDA_FOLDER]. Prints a line a step; a wrong value is a line with BAD."""
import os
import sys
import time

os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
if len(sys.argv) > 1:  # where the compiler finds ptxas and nvlink
    os.environ["PATH"] += f":{sys.argv[1]}/bin"
    os.environ["XLA_FLAGS"] = f"--xla_gpu_cuda_data_dir={sys.argv[1]}"
import jax
import jax.numpy as jnp

more = jax.jit(lambda values: values + 1)
values = jnp.zeros(1 << 26, jnp.float32)
step = 0
while True:
    step += 1
    values = more(values)
    print(f"step {step} {'ok' if float(values.min()) == step == float(values.max()) else 'BAD'}", flush=True)
    time.sleep(0.2)
