#!/usr/bin/env python3
"""Trains the model of `hone serve MODEL --train` over HTTP, with nothing but Python's own library.

  hone serve path/to/model --train --save-to models/trained
  python3 examples/serve/train.py 30

It draws samples, rewards them, and takes steps of policy gradient: the loop that programs for
Tinker's API are made of (docs/serve-train.md).
"""
import json
import os
import sys
import urllib.error
import urllib.request

URL = os.environ.get("HONE_URL", "http://127.0.0.1:8000")
KEY = os.environ.get("HONE_API_KEY", "none")


def ask(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, {"Content-Type": "application/json", "X-API-Key": KEY})
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(f"{path}: {error.code} {error.read().decode()}")


def call(name, body):
    """A call that computes: it is taken at once, and its outcome is fetched."""
    taken = ask("/api/v1/" + name, body)
    while True:
        outcome = ask("/api/v1/retrieve_future", {"request_id": taken["request_id"]})
        if outcome.get("type") == "try_again":
            continue
        if "error" in outcome:
            sys.exit(f"{name}: {outcome['error']}")
        return outcome


def tensor(values, dtype):
    return {"data": values, "dtype": dtype, "shape": [len(values)]}


def datum(prompt, sample, advantage):
    """A sequence as the API wants it: inputs without the last token, targets without the first."""
    tokens = prompt + sample["tokens"]
    before = len(prompt) - 1
    return {
        "model_input": {"chunks": [{"type": "encoded_text", "tokens": tokens[:-1]}]},
        "loss_fn_inputs": {
            "target_tokens": tensor(tokens[1:], "int64"),
            "logprobs": tensor([0.0] * before + sample["logprobs"], "float32"),
            "advantages": tensor([0.0] * before + [advantage] * len(sample["tokens"]), "float32"),
        },
    }


def reward_of(tokens):
    """How much of it has a small id. Anything that can be said of a sample may stand here."""
    return sum(token < 2500 for token in tokens) / len(tokens)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    base = ask("/api/v1/get_server_capabilities")["supported_models"][0]["model_name"]
    session = ask("/api/v1/create_session", {"tags": [], "user_metadata": {}, "sdk_version": "none"})["session_id"]
    model = call("create_model", {"session_id": session, "model_seq_id": 0, "base_model": base})["model_id"]
    prompt = [11, 22, 33, 44]
    for step in range(steps):
        sampler = call("save_weights_for_sampler", {"model_id": model})["sampling_session_id"]
        drawn = call("asample", {
            "sampling_session_id": sampler, "seq_id": step, "num_samples": 16,
            "prompt": {"chunks": [{"type": "encoded_text", "tokens": prompt}]},
            "sampling_params": {"max_tokens": 16, "seed": step, "temperature": 1.0},
        })["sequences"]
        rewards = [reward_of(sample["tokens"]) for sample in drawn]
        mean = sum(rewards) / len(rewards)
        data = [datum(prompt, sample, reward - mean) for sample, reward in zip(drawn, rewards)]
        learned = call("forward_backward", {
            "model_id": model, "forward_backward_input": {"data": data, "loss_fn": "importance_sampling"}})
        for sample, output in zip(drawn, learned["loss_fn_outputs"]):
            # The weights that drew are the weights in training, to the bit.
            assert output["logprobs"]["data"][len(prompt) - 1:] == sample["logprobs"]
        taken = call("optim_step", {"model_id": model, "adam_params": {"learning_rate": 0.02}})
        print(f"step {step + 1}: reward {mean:.3f}, gradient {taken['metrics']['grad_norm']:.3f}")
    print("saved as", call("save_weights", {"model_id": model, "path": f"step-{steps}"})["path"])
    print("weights", ask("/v1/models/" + base)["weights"])


if __name__ == "__main__":
    main()
