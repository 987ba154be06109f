"""An LLM server and its client: server.py [LAYERS]. One process serves HTTP on uvloop, one holds the model, one asks.

The model has the shape of Llama and random weights. Answers are streamed token by token, also while the pod is frozen and
brought back. The client prints a line an answer; one that differs from the first answer to the same prompt is BAD.
"""
import http.client
import multiprocessing
import sys

PORT, TOKENS = 8000, 24


def engine(pipe, layers):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(7)
    torch.set_default_dtype(torch.bfloat16)
    torch.set_grad_enabled(False)
    config = LlamaConfig(vocab_size=32000, hidden_size=4096, intermediate_size=14336, num_hidden_layers=layers, num_attention_heads=32, num_key_value_heads=8)
    with torch.device("cuda"):
        model = LlamaForCausalLM(config).eval()
    print(f"model of {sum(p.numel() for p in model.parameters()) / 1e9:.1f} billion parameters", flush=True)
    pipe.send("ready")
    while True:
        ids, cache = torch.tensor([pipe.recv()], device="cuda"), None
        for _ in range(TOKENS):
            out = model(input_ids=ids, past_key_values=cache, use_cache=True)
            cache, ids = out.past_key_values, out.logits[:, -1:].argmax(-1)
            pipe.send(int(ids))
        pipe.send(None)


def client():
    first, step = {}, 0
    while True:
        step += 1
        prompt = step % 3
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=600)
        connection.request("GET", f"/generate?prompt={prompt}")
        answer = connection.getresponse().read().decode().split()
        connection.close()
        good = len(answer) == TOKENS and first.setdefault(prompt, answer) == answer
        print(f"step {step} {len(answer)} tokens {answer[0] if answer else ''} {'ok' if good else 'BAD'}", flush=True)


def main():
    import asyncio

    import uvloop
    from aiohttp import web

    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    spawn.Process(target=engine, args=(theirs, int(sys.argv[1]) if len(sys.argv) > 1 else 8), daemon=True).start()
    ours.recv()
    lock = asyncio.Lock()

    async def generate(request):
        response = web.StreamResponse()
        await response.prepare(request)
        loop = asyncio.get_running_loop()
        async with lock:
            ours.send([1, 100 + int(request.query["prompt"]), 2000, 7])
            while (token := await loop.run_in_executor(None, ours.recv)) is not None:
                await response.write(f"{token} ".encode())
        return response

    async def started(_):
        spawn.Process(target=client, daemon=True).start()

    app = web.Application()
    app.router.add_get("/generate", generate)
    app.on_startup.append(started)
    uvloop.install()
    web.run_app(app, host="0.0.0.0", port=PORT, print=None, loop=uvloop.new_event_loop())


if __name__ == "__main__":
    main()
