#!/usr/bin/env python3
"""Times our unfused CPU baseline next to PyTorch on the quick-start model, in one run.

Same model (Qwen3-0.6B dims, random weights), shapes, dtype and threads. Arms alternate block by
block, because machines drift: a block of eager, a block of compiled, a block of ours; the ratio is
taken inside each round and its median and spread over the rounds are printed as JSON.

usage: torch_model.py --ours build/release/fusefarm-bench-baseline [--rounds 5] [--dtype bf16]
                      [--layers 4] [--threads 2] [--no-compile] [--out FILE]
Optional peer: needs `pip install torch numpy`; nothing of the project depends on it.
"""
import argparse
import json
import statistics
import subprocess
import time

import torch
import torch.nn.functional as F

HIDDEN, HEADS, KV_HEADS, HEAD_DIM, INTER, VOCAB = 1024, 16, 8, 128, 3072, 151936
EPS, THETA = 1e-6, 1e6


def rms(x, weight):
    v = x.float()
    return (v * torch.rsqrt(v.pow(2).mean(-1, keepdim=True) + EPS)).to(x.dtype) * weight


class Layer(torch.nn.Module):
    def __init__(self, dtype):
        super().__init__()
        def weight(*shape):
            return torch.nn.Parameter((torch.randn(*shape) * shape[-1] ** -0.5).to(dtype), False)
        def norm(n):
            return torch.nn.Parameter((1 + 0.1 * torch.randn(n)).to(dtype), False)
        self.qkv = weight((HEADS + 2 * KV_HEADS) * HEAD_DIM, HIDDEN)
        self.o = weight(HIDDEN, HEADS * HEAD_DIM)
        self.gate_up = weight(2 * INTER, HIDDEN)
        self.down = weight(HIDDEN, INTER)
        self.norm1, self.norm2 = norm(HIDDEN), norm(HIDDEN)
        self.q_norm, self.k_norm = norm(HEAD_DIM), norm(HEAD_DIM)

    def forward(self, x, cos, sin, cache, slots, prefill):
        b, t, _ = x.shape
        h = F.linear(rms(x, self.norm1), self.qkv)
        q, k, v = h.split([HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM], -1)
        q = rotate(rms(q.view(b, t, HEADS, HEAD_DIM), self.q_norm), cos, sin)
        k = rotate(rms(k.view(b, t, KV_HEADS, HEAD_DIM), self.k_norm), cos, sin)
        keys, values = cache
        keys[:, slots] = k
        values[:, slots] = v.view(b, t, KV_HEADS, HEAD_DIM)
        a = F.scaled_dot_product_attention(q.transpose(1, 2), keys.transpose(1, 2),
                                           values.transpose(1, 2), is_causal=prefill,
                                           enable_gqa=True)
        x = x + F.linear(a.transpose(1, 2).reshape(b, t, -1), self.o)
        gate, up = F.linear(rms(x, self.norm2), self.gate_up).split(INTER, -1)
        return x + F.linear(F.silu(gate) * up, self.down)


def rotate(x, cos, sin):
    half = HEAD_DIM // 2
    a, b = x[..., :half].float(), x[..., half:].float()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(x.dtype)


class Model(torch.nn.Module):
    def __init__(self, layers, dtype):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(VOCAB, HIDDEN).to(dtype), False)
        self.layers = torch.nn.ModuleList([Layer(dtype) for _ in range(layers)])
        self.norm = torch.nn.Parameter((1 + 0.1 * torch.randn(HIDDEN)).to(dtype), False)

    def forward(self, ids, cos, sin, caches, slots, prefill):
        x = self.table[ids]
        for layer, cache in zip(self.layers, caches):
            x = layer(x, cos, sin, cache, slots, prefill)
        return F.linear(rms(x[:, -1], self.norm), self.table).argmax(-1)


def workload(kind, layers, dtype):
    """Positional inputs of Model.forward for decode (batch 8, context 256) or prefill (64)."""
    batch, context, first, count = (8, 256, 255, 1) if kind == "decode-8" else (1, 64, 0, 64)
    inverse = THETA ** (-torch.arange(0, HEAD_DIM, 2).float() / HEAD_DIM)
    angle = torch.outer(torch.arange(first, first + count).float(), inverse)[None, :, None, :]
    caches = [(torch.randn(batch, context, KV_HEADS, HEAD_DIM).to(dtype),
               torch.randn(batch, context, KV_HEADS, HEAD_DIM).to(dtype)) for _ in range(layers)]
    ids = torch.randint(0, VOCAB, (batch, count))
    return ids, angle.cos(), angle.sin(), caches, torch.arange(first, first + count), count > 1


def block(fn, arguments, seconds):
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        fn(*arguments)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def ours(command, threads, dtype, seconds):
    done = subprocess.run(command + ["--threads", str(threads), "--dtype", dtype, "--seconds",
                                     str(seconds)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["step_seconds"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", nargs="+", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtype", choices=["bf16", "f32"], default="bf16")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--out")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    dtype = torch.bfloat16 if options.dtype == "bf16" else torch.float32
    kinds = ["decode-8", "prefill-64"]
    rounds = []
    with torch.inference_mode():
        model = Model(options.layers, dtype)
        arms = {"eager": model}
        if not options.no_compile:
            arms["compiled"] = torch.compile(model, dynamic=False)
        inputs = {kind: workload(kind, options.layers, dtype) for kind in kinds}
        for arm in arms.values():
            for kind in kinds:
                arm(*inputs[kind])
                arm(*inputs[kind])
        for _ in range(options.rounds):
            row = {name: {kind: block(arm, inputs[kind], options.seconds) for kind in kinds}
                   for name, arm in arms.items()}
            row["ours"] = ours(options.ours, options.threads, options.dtype, options.seconds)
            rounds.append(row)
    result = {"torch": torch.__version__, "dtype": options.dtype, "threads": options.threads,
              "layers": options.layers, "rounds": rounds, "ratio_ours_over_best": {}}
    for kind in kinds:
        ratios = [row["ours"][kind] / min(row[name][kind] for name in arms) for row in rounds]
        result["ratio_ours_over_best"][kind] = {"median": statistics.median(ratios),
                                                "min": min(ratios), "max": max(ratios)}
    text = json.dumps(result, indent=1)
    print(text)
    if options.out:
        with open(options.out, "w") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()
