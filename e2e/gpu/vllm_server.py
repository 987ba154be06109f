"""vLLM and its client: vllm_server.py FOLDER [LAYERS]. FOLDER holds vLLM and what it needs beside PyTorch and transformers.

The model has the shape of Llama 3 8B and random weights, so nothing is fetched. The client streams answers of the OpenAI
endpoint, also while the pod is frozen and restored, and prints a line an answer; one that differs from the first answer to the
same prompt is BAD.
"""
import http.client
import json
import os
import subprocess
import sys
import time

PORT, TOKENS, MODEL = 8000, 24, "/tmp/model"


def write_model(layers):
    from tokenizers import Tokenizer, models, pre_tokenizers

    os.makedirs(MODEL, exist_ok=True)
    vocabulary = {"<s>": 0, "</s>": 1, "<unk>": 2, **{f"w{i}": i for i in range(3, 32000)}}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(f"{MODEL}/tokenizer.json")
    with open(f"{MODEL}/tokenizer_config.json", "w") as out:
        json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}, out)
    with open(f"{MODEL}/config.json", "w") as out:
        json.dump({
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 32000, "hidden_size": 4096,
            "intermediate_size": 14336, "num_hidden_layers": layers, "num_attention_heads": 32, "num_key_value_heads": 8,
            "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "torch_dtype": "bfloat16",
            "bos_token_id": 0, "eos_token_id": 1, "tie_word_embeddings": False}, out)


def answer(prompt):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=600)
    connection.request("POST", "/v1/completions", json.dumps({
        "model": MODEL, "prompt": f"w{100 + prompt} w2000 w7", "max_tokens": TOKENS, "temperature": 0, "ignore_eos": True,
        "stream": True}), {"Content-Type": "application/json"})
    # Under load the server sends several tokens in one piece.
    response, pieces = connection.getresponse(), []
    if response.status != 200:
        raise OSError(f"status {response.status}: {response.read()[:200]}")
    for line in response:
        if line.startswith(b"data: {"):
            pieces.append(json.loads(line[6:])["choices"][0]["text"])
    connection.close()
    return "".join(pieces).split()


def main():
    folder, layers = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 32
    write_model(layers)
    begun = time.monotonic()
    print("the model's configuration is written", flush=True)
    server = subprocess.Popen(
        [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", MODEL, "--load-format", "dummy", "--dtype",
         "bfloat16", "--enforce-eager", "--max-model-len", "1024", "--max-num-seqs", "8", "--gpu-memory-utilization", "0.3",
         "--attention-backend", "FLASH_ATTN", "--port", str(PORT), "--host", "0.0.0.0"],
        env={**os.environ, "PYTHONPATH": folder, "VLLM_FLASH_ATTN_VERSION": "2", "VLLM_USE_FLASHINFER_SAMPLER": "0",
             "VLLM_USE_DEEP_GEMM": "0",  # its kernels are not in the wheel
             "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"})
    while True:
        if server.poll() is not None:
            sys.exit(f"vLLM ended with {server.returncode}")
        try:
            first = {0: answer(0)}
            break
        except (OSError, http.client.HTTPException):
            time.sleep(0.2)
    cold = time.monotonic() - begun
    step = 0
    while True:
        step += 1
        asked = time.monotonic()
        words = answer(step % 3)
        good = len(words) == TOKENS and first.setdefault(step % 3, words) == words
        print(f"step {step} {len(words)} tokens in {time.monotonic() - asked:.2f} s {'ok' if good else 'BAD ' + ' '.join(words)}"
              f" (the first answer came {cold:.1f} s after the start)", flush=True)


if __name__ == "__main__":
    main()
