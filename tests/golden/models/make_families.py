#!/usr/bin/env python3
"""Small random models of further families, and what transformers computes with them: tests/golden/models/FAMILY/.

    tests/golden/models/make_families.py OUT [FAMILY...]

Needs torch and transformers (made with 2.11 and 5.17; fp32, CPU, eager attention). Weights are bfloat16 values, so that the
files are small and exact. expected.safetensors has the names that the other models' files have, of two sequences:
seq0 (9 tokens: ids, logits, greedy) and seq1 (150 tokens: ids, token_logprobs, entropy, weights, loss, grad.*).
"""
import pathlib
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file

SHAPE = dict(vocab_size=64, hidden_size=16, intermediate_size=24, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, head_dim=16, max_position_embeddings=512, pad_token_id=None, bos_token_id=None,
             eos_token_id=None, attn_implementation="eager")
WINDOW = 21  # begins inside blocks of keys, and leaves whole blocks behind
ROPE = {"rope_type": "default", "rope_theta": 10000.0}
SLIDING, FULL = "sliding_attention", "full_attention"

FAMILIES = {
    "mistral": ("MistralConfig", dict(sliding_window=WINDOW, rope_parameters=ROPE)),
    "ministral": ("MinistralConfig", dict(sliding_window=WINDOW, layer_types=[SLIDING, FULL, SLIDING], rope_parameters=ROPE)),
    "smollm3": ("SmolLM3Config", dict(no_rope_layers=[1, 0, 1], rope_parameters=ROPE, tie_word_embeddings=True)),
    "phi3": ("Phi3Config", dict(sliding_window=WINDOW, rope_parameters=ROPE)),
    "phi4-mini": ("Phi3Config", dict(hidden_size=64, sliding_window=None, original_max_position_embeddings=256, tie_word_embeddings=True,
                                     partial_rotary_factor=0.75,
                                     rope_parameters={"rope_type": "longrope", "rope_theta": 10000.0,
                                                      "partial_rotary_factor": 0.75,
                                                      "original_max_position_embeddings": 256,
                                                      "short_factor": [1.0, 1.1, 1.25, 1.5, 2.0, 2.5],
                                                      "long_factor": [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]})),
    "gemma": ("GemmaConfig", dict(rope_parameters=ROPE, hidden_activation="gelu_pytorch_tanh")),
    "gemma2": ("Gemma2Config", dict(sliding_window=WINDOW, layer_types=[SLIDING, FULL, SLIDING], query_pre_attn_scalar=24,
                                    attn_logit_softcapping=5.0, final_logit_softcapping=3.0, rope_parameters=ROPE)),
    "gemma3": ("Gemma3TextConfig", dict(sliding_window=WINDOW, layer_types=[SLIDING, SLIDING, FULL],
                                        query_pre_attn_scalar=20,
                                        rope_parameters={SLIDING: ROPE,
                                                         FULL: {"rope_type": "linear", "factor": 8.0,
                                                                "rope_theta": 1000000.0}})),
    "qwen2-window": ("Qwen2Config", dict(use_sliding_window=True, sliding_window=WINDOW, max_window_layers=1,
                                         rope_parameters=ROPE)),
    "llama-yarn": ("LlamaConfig", dict(rope_parameters={"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0,
                                                        "original_max_position_embeddings": 128})),
    "qwen3-moe": ("Qwen3MoeConfig", dict(num_experts=6, num_experts_per_tok=2, moe_intermediate_size=8, decoder_sparse_step=1,
                                         mlp_only_layers=[1], norm_topk_prob=True, rope_parameters=ROPE)),
    "gpt-oss": ("GptOssConfig", dict(num_local_experts=4, num_experts_per_tok=2, intermediate_size=8, sliding_window=WINDOW,
                                     layer_types=[SLIDING, FULL, SLIDING],
                                     rope_parameters={"rope_type": "yarn", "rope_theta": 150000.0, "factor": 32.0,
                                                      "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
                                                      "original_max_position_embeddings": 128})),
}


def randomise(model, generator):
    """Norms around what is neutral for the family, matrices so that every layer matters."""
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if "norm" in name:
            neutral = 0.0 if "gemma" in type(model).__name__.lower() else 1.0
            value = neutral + 0.2 * noise
        elif parameter.dim() == 1 or name.endswith("bias"):
            value = 0.3 * noise
        else:
            # Embeddings of size 1; matrices of size 1 / sqrt(inputs), whichever way they lie.
            inputs = 1 if "embed" in name else parameter.shape[-2] if "GptOss" in type(model).__name__ and parameter.dim() == 3 \
                else parameter.shape[-1]
            value = noise * (1.2 / inputs ** 0.5)
            if "embed" in name and "gemma" in type(model).__name__.lower():
                value = value / parameter.shape[-1] ** 0.5
        parameter.data = value.to(torch.bfloat16).float()
    model.tie_weights()


def stored(name, gradient, model):
    """(name, tensor) of a gradient as the checkpoint has the parameter."""
    if "Qwen3Moe" in type(model).__name__ and ".experts." in name and gradient.dim() == 3:
        base = name[:name.index(".experts.")] + ".experts."
        for expert, one in enumerate(gradient):
            if name.endswith("gate_up_proj"):
                half = one.shape[0] // 2
                yield f"{base}{expert}.gate_proj.weight", one[:half]
                yield f"{base}{expert}.up_proj.weight", one[half:]
            else:
                yield f"{base}{expert}.down_proj.weight", one
        return
    yield name, gradient


def make(family, folder):
    kind, changes = FAMILIES[family]
    config = getattr(transformers, kind)(**{**SHAPE, **changes})
    config._attn_implementation = "eager"
    if kind == "GptOssConfig":
        config._experts_implementation = "eager"
    generator = torch.Generator().manual_seed(sum(map(ord, family)))
    torch.manual_seed(1)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    randomise(model, generator)
    out = folder / family
    model.to(torch.bfloat16).save_pretrained(out)
    # What was written is what is computed with.
    model = transformers.AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32, attn_implementation="eager").eval()
    expected = {}
    ids = {"seq0": torch.randint(0, 64, (9,), generator=generator), "seq1": torch.randint(0, 64, (150,), generator=generator)}
    for name, tokens in ids.items():
        logits = model(tokens[None], use_cache=False).logits[0]
        logprobs = torch.log_softmax(logits.double(), -1)
        expected[f"{name}.ids"] = tokens
        if name == "seq0":
            expected["seq0.logits"] = logits.detach().float()
            greedy = tokens.tolist()
            with torch.no_grad():
                for _ in range(24):
                    greedy.append(int(model(torch.tensor(greedy)[None], use_cache=False).logits[0, -1].argmax()))
            expected["seq0.greedy"] = torch.tensor(greedy)
            continue
        chosen = logprobs[:-1].gather(1, tokens[1:, None])[:, 0]
        weights = torch.randn(len(tokens), generator=generator)
        loss = -(weights[1:].double() * chosen).sum()
        model.zero_grad()
        loss.backward()
        expected[f"{name}.token_logprobs"] = chosen.detach().float()
        expected[f"{name}.entropy"] = -(logprobs.exp() * logprobs).sum(-1).detach().float()
        expected[f"{name}.weights"] = weights
        expected[f"{name}.loss"] = loss.detach().float().reshape(1)
        for parameter, value in model.named_parameters():
            gradient = torch.zeros_like(value) if value.grad is None else value.grad
            for stored_name, one in stored(parameter, gradient, model):
                expected[f"{name}.grad.{stored_name}"] = one.contiguous().float()
    names = set(load_file(out / "model.safetensors"))
    graded = {n.removeprefix("seq1.grad.") for n in expected if ".grad." in n}
    if names != graded:
        print(f"{family}: names differ: stored only {sorted(names - graded)[:4]}, gradients only {sorted(graded - names)[:4]}")
    save_file({n: t.contiguous() for n, t in expected.items()}, out / "expected.safetensors")
    size = sum(f.stat().st_size for f in out.iterdir())
    print(f"{family}: {sum(p.numel() for p in model.parameters())} parameters, {size // 1024} KiB, loss {float(loss):.4f}")


def main():
    folder = pathlib.Path(sys.argv[1])
    failed = 0
    for family in sys.argv[2:] or FAMILIES:
        try:
            make(family, folder)
        except Exception as problem:  # the others are made all the same
            failed += 1
            print(f"{family}: {type(problem).__name__}: {problem}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
