#!/usr/bin/env python3
"""Hone against PyTorch and transformers on some cores of the processor, in one run: random weights, bf16.

    scripts/compare_cpu.py --bench PATH/processor_bench [--threads 2] [--parts 0.5b,9.5m,decode] [--out FOLDER]

Needs a python3 with torch and transformers, taskset, and bench/processor_bench. Both run on the same cores, one after
the other: training steps (forward, backward, AdamW) of Qwen2.5-0.5B's shape on 4 x 256 tokens and of a model of 9.5 M
parameters on 8 x 256, and drawing of 64 sequences from one of 4.8 M. PyTorch is eager, with bf16 weights, attention by
sdpa and fused AdamW; Hone's master weights and moments are float32. Prints tokens per second, the best of all rounds;
with --out, every number also goes to FOLDER/compare_cpu.json.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

# The shapes of bench/processor_bench.cpp, with the sequences of a training step and its rounds.
SMALL = dict(vocab_size=1024, head_dim=32, num_key_value_heads=2, max_position_embeddings=4096)
SHAPES = {
    "0.5b": dict(vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24,
                 num_attention_heads=14, num_key_value_heads=2, max_position_embeddings=32768),
    "9.5m": dict(hidden_size=384, intermediate_size=1024, num_hidden_layers=6, num_attention_heads=12, **SMALL),
    "decode": dict(hidden_size=320, intermediate_size=896, num_hidden_layers=4, num_attention_heads=10, **SMALL),
}
TRAIN = {"0.5b": (4, 256, 1, 2), "9.5m": (8, 256, 2, 10)}  # sequences, length, warm-up steps, timed steps
ROUNDS = {"0.5b": 1, "9.5m": 2, "decode": 2}
LIVE, PROMPT, DRAWN = 64, 32, 64


def cores_of(count):
    """So many cores that this process may use: one hardware thread of each."""
    chosen, taken = [], set()
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        core = siblings.read_text().strip() if siblings.exists() else str(cpu)
        if core not in taken and len(chosen) < count:
            taken.add(core)
            chosen.append(cpu)
    if len(chosen) < count:
        sys.exit(f"compare_cpu: {len(chosen)} cores, and {count} were asked for")
    return ",".join(map(str, chosen))


def model_of(part):
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM
    torch.manual_seed(1)
    shape = dict(SHAPES[part], attn_implementation="sdpa", tie_word_embeddings=True)
    if part == "0.5b":
        model = Qwen2ForCausalLM(Qwen2Config(**shape))
    else:  # the small ones norm queries and keys, as Qwen3 does
        model = Qwen3ForCausalLM(Qwen3Config(**shape))
    return model.to(torch.bfloat16)


def train(part):
    import torch
    sequences, length, warm_up, timed = TRAIN[part]
    model = model_of(part).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True)
    ids = torch.randint(0, SHAPES[part]["vocab_size"], (sequences, length))
    times = []
    for _ in range(warm_up + timed):
        start = time.perf_counter()
        model(input_ids=ids, labels=ids, use_cache=False).loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        times.append(time.perf_counter() - start)
    return sequences * length / min(times[warm_up:])


def decode():
    """Steps alone: what more of them take."""
    import torch
    model = model_of("decode").eval()
    model.generation_config.pad_token_id = model.generation_config.eos_token_id = None
    ids = torch.randint(0, SHAPES["decode"]["vocab_size"], (LIVE, PROMPT))

    def seconds(drawn):
        start = time.perf_counter()
        model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=True, top_k=0, max_new_tokens=drawn,
                       min_new_tokens=drawn)
        return time.perf_counter() - start

    with torch.no_grad():
        seconds(4)
        return LIVE * DRAWN / (seconds(4 + DRAWN) - seconds(4))


def torch_alone(part, threads):
    """In a process of its own, so that its memory and threads are gone when Hone's turn comes."""
    import torch
    torch.set_num_threads(threads)
    value = decode() if part == "decode" else train(part)
    print(json.dumps({"value": value, "torch": torch.__version__}), flush=True)


def lines_of(command, cores, threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
    done = subprocess.run(["taskset", "-c", cores, *command], stdout=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"compare_cpu: {' '.join(command)} failed")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cores", help="a list for taskset; otherwise the first ones")
    parser.add_argument("--parts", default="0.5b,9.5m,decode")
    parser.add_argument("--rounds", type=int, help="of every part")
    parser.add_argument("--skip-torch", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--torch-alone", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.torch_alone:
        return torch_alone(arguments.torch_alone, arguments.threads)
    if not arguments.bench:
        parser.error("--bench is needed")
    threads = arguments.threads
    cores = arguments.cores or cores_of(threads)
    everything = {"cores": cores}
    print(f"{'':8} {'Hone':>10} {'PyTorch':>10}  Hone / PyTorch   (tokens/s on cores {cores})", flush=True)
    for part in arguments.parts.split(","):
        ours, theirs, rows = [], [], []
        for _ in range(arguments.rounds or ROUNDS[part]):
            rows += lines_of([arguments.bench, str(threads), part], cores, threads)
            ours = [row["value"] for row in rows if row["unit"] == "tokens/s"]
            if not arguments.skip_torch:
                command = [sys.executable, str(pathlib.Path(__file__).resolve()), "--torch-alone", part, "--threads",
                           str(threads)]
                theirs += [row["value"] for row in lines_of(command, cores, threads)]
        everything[part] = {"hone": ours, "torch": theirs, "lines": rows}
        ratio = f"{max(ours) / max(theirs):.2f}" if theirs else "not measured"
        print(f"{part:8} {max(ours):10.1f} {max(theirs, default=0):10.1f}  {ratio:14}   {rows[0]['note']}", flush=True)
        if arguments.out:
            arguments.out.mkdir(parents=True, exist_ok=True)
            (arguments.out / "compare_cpu.json").write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
