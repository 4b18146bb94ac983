#!/usr/bin/env python3
"""What hone scale predicts of several processes, against what they take: the table of docs/scale.md.

    scripts/measure_scale.py [--recipe recipes/desk-real.toml] [--processes 2] [--rounds 5] [--steps 20] [--imitation 400]
                             [--set KEY=VALUE ...] [--hone build/release/hone] [--out FOLDER]

Imitation is done once, before. A round is four runs of practice with one thread each: one process with all groups; one
with half of them; as many of the latter at the same time as there are processes, which do not know of each other; and
the processes together (mpirun). The constants come from the first three alone: what a token and what a rollout cost is
the line through both sizes, and how much processes slow each other down is the third against the second. What messages
cost is said by hone bench messages. With these, hone scale predicts the fourth. Figures are medians over steps and
rounds.

Prints Markdown. Exits with 1 where a prediction of a step's speed-up is further than 15 % from what was measured.
The recipe has two stages: imitation, then practice. With --out, the options of the simulation (measured.toml) and all
runs stay in FOLDER.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROLLOUT = ["time/sampling", "time/tools", "time/rollout", "time/rewards"]
OTHER = ["time/evaluation", "time/checkpoint", "time/set-up"]  # no part of a step of practice
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
WARM = 3  # steps at the beginning that do not count
NORMAL_P99 = 2.3263478740408408


class Run:
    """One run, and what its steps took."""

    def __init__(self, arguments, out, processes=1, groups=None, steps=None, threads=1):
        overrides = [f"run.out={out}", f"run.cache={arguments.out / 'cache'}", f"run.threads={threads}",
                     "run.save_every=100000", f"stage.0.steps={arguments.imitation}",
                     "evaluation.every=0",
                     "evaluation.test_tasks=0", "evaluation.more=[]", f"stage.0.slices={arguments.slices}",
                     f"stage.1.slices={arguments.slices}", f"stage.1.steps={steps or arguments.steps}", *arguments.set]
        if groups:
            overrides.append(f"stage.1.groups={groups}")
        command = [str(arguments.hone), "train", str(arguments.recipe), *overrides, "--json"]
        if processes > 1:
            command = [*MPIRUN, "-n", str(processes), *command]
        self.out = pathlib.Path(out)
        environment = dict(os.environ, HONE_DEVICE="cpu")
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)

    def steps(self):
        """(rollout, training, the rest, tokens, trajectories, share of groups trained on) of each step of practice."""
        _, problem = self.process.communicate()
        if self.process.returncode != 0:
            sys.exit(f"measure_scale: a run failed: {problem.strip()}")
        files = sorted(self.out.rglob("metrics.jsonl"))
        if not files:
            sys.exit(f"measure_scale: there is no metrics.jsonl below {self.out}")
        rows = [json.loads(line) for line in files[0].read_text().splitlines()]
        rows = [row for row in rows if "trajectories" in row][WARM:]
        steps = []
        for row in rows:
            rollout = sum(row.get(key, 0) for key in ROLLOUT)
            rest = row["time/step"] - rollout - row["time/training"] - sum(row.get(key, 0) for key in OTHER)
            steps.append((rollout, row["time/training"], rest, row["sampled_tokens"], row["trajectories"],
                          1 - row["zero_advantage_groups"]))
        return steps


def medians(steps):
    return [statistics.median(column) for column in zip(*steps)]


def means(steps):
    return [statistics.fmean(column) for column in zip(*steps)]


def line(small, large, tokens_small, tokens_large):
    """(per token, fixed) of what takes `small` and `large`; neither below zero."""
    each = max(0.0, (large - small) / (tokens_large - tokens_small))
    fixed = max(0.0, large - each * tokens_large)
    return (large / tokens_large, 0.0) if fixed == 0 else (each, fixed)


def copy_rate():
    """Bytes per second that one core copies."""
    source, target = bytearray(1 << 26), bytearray(1 << 26)
    target[:] = source
    best = min(timed(lambda: target.__setitem__(slice(None), source)) for _ in range(5))
    return len(source) / best


def timed(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def message_costs(arguments, run):
    done = subprocess.run([str(arguments.hone), "--json", "bench", "messages", str(run)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"measure_scale: {done.stderr.strip()}")
    return json.loads(done.stdout)


def toml(tables):
    def value(item):
        if isinstance(item, bool):
            return "true" if item else "false"
        return f'"{item}"' if isinstance(item, str) else f"{item!r}"
    return "\n".join(f"[{name}]\n" + "".join(f"{key} = {value(item)}\n" for key, item in table.items())
                     for name, table in tables.items())


def simulate(arguments, tables, processes):
    file = arguments.out / "measured.toml"
    file.write_text(toml(tables))
    done = subprocess.run([str(arguments.hone), "--json", "scale", str(file), "--devices", str(processes)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"measure_scale: {done.stderr.strip()}")
    return json.loads(done.stdout)["rows"][0]


def shape_of(run):
    config = json.loads(sorted(run.out.rglob("config.json"))[0].read_text())
    heads = config["num_attention_heads"]
    return {"name": "measured", "layers": config["num_hidden_layers"], "width": config["hidden_size"], "heads": heads,
            "kv_heads": config.get("num_key_value_heads", heads),
            "head_dim": config.get("head_dim", config["hidden_size"] // heads), "ffn": config["intermediate_size"],
            "vocabulary": config["vocab_size"], "tied_embeddings": config.get("tie_word_embeddings", True)}


def constants(arguments, full, half, beside, model, run):
    """The options of the simulation, from runs of one process."""
    groups = full["groups"]
    large, small = medians(full["steps"]), medians(half["steps"])
    tokens, trajectories = large[3], large[4]
    rollout = line(small[0], large[0], small[3], tokens)
    training = line(small[1], large[1], small[3], tokens)
    rest = line(small[2], large[2], small[3], tokens)
    slower = medians(beside["steps"])
    contention = max(1.0, (slower[0] + slower[1]) / (small[0] + small[1]))
    # Groups differ: as much as makes steps differ, one from the next.
    drawn = [step[3] for step in full["steps"]]
    changes = [after - before for before, after in zip(drawn, drawn[1:])]
    sigma = statistics.pstdev(changes) / math.sqrt(2) / statistics.fmean(drawn) * math.sqrt(groups)
    costs = message_costs(arguments, run)
    # Per token that is drawn, which is what steps say of themselves; trees have prompts, too.
    share = costs["tokens"] / costs["trees"] / (tokens / groups)
    machine = {"products": 1e30, "training": 1e30, "bandwidth": 1e30, "devices": arguments.processes,
               "beside": contention, "sequence_seconds": rollout[0], "rollout_seconds": rollout[1],
               "host_bandwidth": copy_rate(), "message_seconds": 1e-4, "leader_seconds": rest[1], "token_seconds": rest[0],
               "tree_bytes": share * costs["tree_bytes"], "tree_rate": costs["tree_bytes"] / costs["tree_seconds"],
               "update_bytes": share * costs["update_bytes"], "update_rate": costs["update_bytes"] / costs["update_seconds"]}
    tables = {"model": model, "machine": machine,
              "workload": {"groups": groups, "group": round(trajectories / groups), "live": 100000,
                           "turn_tokens": tokens / trajectories / math.exp(sigma ** 2 / 2),
                           "task_p99": math.exp(NORMAL_P99 * sigma), "mini_batches": arguments.mini_batches,
                           "trained_share": large[5]},
              "run": {"slices": arguments.slices, "shared_step": True, "steps": 200}}
    # What a token of training costs is a rate of the whole model, and what adding up slices takes is no part of the rest.
    alone = simulate(arguments, tables, 1)
    machine["training"] = 6 * alone["parameters"] * large[5] / training[0]
    fixed = training[1] - alone["adding_seconds"] - alone["optimizer_seconds"] - alone["spreading_seconds"]
    machine["batch_seconds"] = max(0.0, fixed) / arguments.mini_batches
    return tables


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", type=pathlib.Path, default=ROOT / "recipes" / "desk-real.toml")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--imitation", type=int, default=400, help="steps before practice; made once")
    parser.add_argument("--slices", type=int, default=4)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--hone", type=pathlib.Path, default=ROOT / "build" / "release" / "hone")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    kept = arguments.out is not None
    folder = None if kept else tempfile.TemporaryDirectory()
    arguments.out = (arguments.out if kept else pathlib.Path(folder.name)).resolve()
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.hone = arguments.hone.resolve()
    runs = pathlib.Path(tempfile.mkdtemp(prefix="runs-", dir=arguments.out))  # a folder with runs would go on with them
    begin = time.time()
    kinds = {name: [] for name in ("one", "part", "beside", "all")}
    first = None
    imitation = Run(arguments, runs / "imitation", steps=1, threads=os.cpu_count() or 1)
    imitation.steps()
    practice = tomllib.loads(sorted(imitation.out.rglob("recipe.toml"))[0].read_text())["stage"][1]
    arguments.mini_batches = practice["mini_batches"]
    groups, processes = practice["groups"], arguments.processes
    part = groups // processes
    for number in range(arguments.rounds):
        def place(name, at=number):
            return runs / f"{name}-{at}"
        one = Run(arguments, place("one"))
        kinds["one"] += one.steps()
        first = first or one
        kinds["part"] += Run(arguments, place("part"), groups=part).steps()
        together = [Run(arguments, place(f"beside-{i}"), groups=part) for i in range(processes)]
        for run in together:
            kinds["beside"] += run.steps()
        kinds["all"] += Run(arguments, place("all"), processes=processes).steps()
        print(f"round {number + 1} of {arguments.rounds}: {time.time() - begin:.0f} s", file=sys.stderr)

    store = sorted(first.out.rglob("store.sqlite"))[0]
    tables = constants(arguments, {"groups": groups, "steps": kinds["one"]},
                       {"steps": kinds["part"]}, {"steps": kinds["beside"]}, shape_of(first), store.parent)
    return report(arguments, tables, medians(kinds["one"]), medians(kinds["all"]))


def report(arguments, tables, one, some):
    processes = arguments.processes
    alone, together = simulate(arguments, tables, 1), simulate(arguments, tables, processes)
    rows = [("rollout", one[0], some[0], alone["rollout_seconds"], together["rollout_seconds"]),
            ("training", one[1], some[1], alone["training_seconds"], together["training_seconds"]),
            ("the rest", one[2], some[2], alone["leading_seconds"], together["leading_seconds"]),
            ("step", sum(one[:3]), sum(some[:3]), alone["step_seconds"], together["step_seconds"])]
    print(f"| seconds of a step | 1 process | {processes} processes | speed-up | efficiency | predicted: 1 | {processes} | speed-up "
          "| efficiency | off by |\n|---|---|---|---|---|---|---|---|---|---|")
    worst = 0.0
    for name, measured_one, measured_some, said_one, said_some in rows:
        speed_up, said = measured_one / measured_some, said_one / said_some
        off = said / speed_up - 1
        if name != "the rest":
            worst = max(worst, abs(off))
        print(f"| {name} | {measured_one:.3f} | {measured_some:.3f} | {speed_up:.2f} | {100 * speed_up / processes:.0f} % | "
              f"{said_one:.3f} | {said_some:.3f} | {said:.2f} | {100 * said / processes:.0f} % | {100 * off:+.0f} % |")
    machine = tables["machine"]
    print(f"\n{arguments.recipe.name}, {arguments.rounds} rounds of {arguments.steps} steps, {tables['workload']['groups']} groups of "
          f"{tables['workload']['group']}. Beside each other, processes that share nothing take {machine['beside']:.2f} times "
          f"as long. A drawn token costs {1e6 * machine['sequence_seconds']:.1f} µs, a rollout {1e3 * machine['rollout_seconds']:.1f} ms "
          f"besides; training {machine['training'] / 1e9:.1f} GFLOP/s and {1e3 * machine['batch_seconds']:.1f} ms per mini-batch; "
          f"a token of trees or updates is {machine['tree_bytes']:.0f} or {machine['update_bytes']:.0f} bytes, at "
          f"{machine['tree_rate'] / 1e6:.0f} or {machine['update_rate'] / 1e6:.0f} MB/s.")
    return 0 if worst <= 0.15 else 1


if __name__ == "__main__":
    sys.exit(main())
