#!/usr/bin/env python3
"""Hone against PyTorch and transformers on one GPU, in one run: random weights of Qwen2.5's shapes, bf16.

    scripts/compare_gpu.py --bench PATH/device_bench [--shapes 0.5b,1.5b] [--out FOLDER] [--skip-eager]

Needs a python3 with torch and transformers, and bench/device_bench beside libhone_cuda.so. Prints a table of tokens per
second; with --out, every number also goes to FOLDER/compare.json. PyTorch's figures are transformers' generate (eager,
and with a static cache under torch.compile) and a training step of forward, backward and fused AdamW on 16 x 512 tokens
(eager, and torch.compile), attention by sdpa.
"""
import argparse
import gc
import json
import pathlib
import subprocess
import time

SHAPES = {
    "0.5b": dict(hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14,
                 num_key_value_heads=2),
    "1.5b": dict(hidden_size=1536, intermediate_size=8960, num_hidden_layers=28, num_attention_heads=12,
                 num_key_value_heads=2),
}
PROMPT, NEW, TRAIN = 256, 128, (16, 512)


def hone(bench, shape):
    """Part -> tokens per second."""
    parts = ["decode64", "decode256", "prompt", "train", "group"]
    lines = subprocess.run([bench, shape, *parts], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line["part"]: line["value"] for line in map(json.loads, lines)}


def model_of(shape):
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM
    config = Qwen2Config(vocab_size=151936, max_position_embeddings=32768, tie_word_embeddings=True,
                         attn_implementation="sdpa", **SHAPES[shape])
    torch.manual_seed(1)
    with torch.device("cuda"):
        model = Qwen2ForCausalLM(config).to(torch.bfloat16)
    model.generation_config.pad_token_id = model.generation_config.eos_token_id = None
    return model


def peak():
    """TFLOP/s of a large bf16 product, and TB/s of a large copy."""
    import torch
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    big = torch.empty(1 << 31, dtype=torch.uint8, device="cuda")
    other = torch.empty_like(big)

    def best(run, rounds=10):
        run()
        times = []
        for _ in range(rounds):
            torch.cuda.synchronize()
            start = time.perf_counter()
            run()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        return sorted(times)[len(times) // 2]

    rate = 2 * 8192 ** 3 / best(lambda: a @ b) / 1e12
    band = 2 * big.numel() / best(lambda: other.copy_(big)) / 1e12
    return rate, band


def generate(model, sequences, compiled):
    import torch
    ids = torch.randint(0, 151936, (sequences, PROMPT), device="cuda")
    options = dict(max_new_tokens=NEW, min_new_tokens=NEW, do_sample=True, attention_mask=torch.ones_like(ids))
    if compiled:
        options["cache_implementation"] = "static"
    best = 0
    for _ in range(3 if compiled else 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        model.generate(ids, **options)
        torch.cuda.synchronize()
        best = max(best, sequences * NEW / (time.perf_counter() - start))
    return best


def train(model, compiled):
    import torch
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
    ids = torch.randint(0, 151936, TRAIN, device="cuda")
    forward = torch.compile(model) if compiled else model
    times = []
    for _ in range(6):
        torch.cuda.synchronize()
        start = time.perf_counter()
        loss = forward(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    model.eval()
    return TRAIN[0] * TRAIN[1] / min(times)


def freed():
    import torch
    gc.collect()
    torch.cuda.empty_cache()
    torch._dynamo.reset()


def table(everything, shapes):
    peak_rate = everything["peak"]["TFLOP/s"]
    for shape in shapes:
        ours, torch_ = everything[shape]["hone"], everything[shape]["torch"]
        print(f"\n{shape:14} {'Hone':>10} {'eager':>10} {'compiled':>10}  Hone / compiled")
        for part in ("decode 64", "decode 256", "train"):
            eager, compiled = torch_.get(part + " eager", 0), torch_.get(part + " compiled", 0)
            ratio = f"{ours[part] / compiled:.2f}" if compiled else "not measured"
            print(f"{part:14} {ours[part]:10.0f} {eager:10.0f} {compiled:10.0f}  {ratio}")
        for part in ("train rate", "prompt rate"):
            print(f"{part:14} {ours[part]:10.0f} TFLOP/s, {100 * ours[part] / peak_rate:.0f} % of peak", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--shapes", default="0.5b,1.5b")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--skip-eager", action="store_true", help="leave out eager generation, which takes long")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no more measurements of PyTorch after that")
    arguments = parser.parse_args()
    shapes = arguments.shapes.split(",")
    everything = {shape: {"hone": hone(arguments.bench, shape), "torch": {}} for shape in shapes}
    rate, band = peak()
    everything["peak"] = {"TFLOP/s": rate, "TB/s": band}
    print(f"peak: {rate:.0f} TFLOP/s, {band:.2f} TB/s", flush=True)
    begun = time.perf_counter()

    def measure(shape, part, run):
        import torch
        if time.perf_counter() - begun > arguments.seconds:
            return
        freed()
        model = model_of(shape)
        with torch.set_grad_enabled(part.startswith("train")):
            everything[shape]["torch"][part] = run(model)
        del model
        print(f"{shape} {part}: {everything[shape]['torch'][part]:.0f} tokens/s", flush=True)
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            (arguments.out / "compare.json").write_text(json.dumps(everything, indent=1))

    # What Hone is measured by comes first, the largest model ahead of the others.
    order = shapes[::-1]
    for shape in order:
        measure(shape, "train compiled", lambda model: train(model, True))
    for sequences in (64, 256):  # a compiled graph belongs to a batch size
        for shape in order:
            measure(shape, f"decode {sequences} compiled", lambda model: generate(model.eval(), sequences, True))
    for shape in order:
        measure(shape, "train eager", lambda model: train(model, False))
    for sequences in (64, 256):
        for shape in order:
            if not arguments.skip_eager:
                measure(shape, f"decode {sequences} eager", lambda model: generate(model.eval(), sequences, False))
    table(everything, shapes)


if __name__ == "__main__":
    main()
