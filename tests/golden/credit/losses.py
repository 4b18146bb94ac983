"""Policy losses with their gradients, by verl's functions and TRL's trainer; torch differentiates."""
import types

import torch

import authors
from advantages import VERL, Settings, masked_functions
from groups import mask_of, number, padded, spread, tool_turn

GRID = 256  # all inputs are multiples of 1/256: exact in single precision


def on_grid(value):
    return round(value * GRID) / GRID


def sequences(rng, spread_of_ratios, per_token):
    made = []
    for _ in range(rng.randrange(1, 6)):
        turns = []
        for t in range(rng.randrange(1, 4)):
            if t > 0:
                turns.append(tool_turn(rng))
            turns.append({"tokens": rng.randrange(1, 4)})
        count = sum(mask_of({"turns": turns}))
        old = [on_grid(-rng.expovariate(0.7)) for _ in range(count)]
        same = on_grid(rng.choice([rng.gauss(0, 1), rng.gauss(0, 1), 0.0]))
        made.append({"turns": turns, "old": old,
                     "logprobs": [on_grid(o + rng.gauss(0, spread_of_ratios)) for o in old],
                     "advantages": [on_grid(rng.gauss(0, 1)) if per_token else same for _ in range(count)]})
    return made


def tensor(made, name, elsewhere):
    """Tokens of tools have something, too: masks are part of what is compared."""
    return padded([spread(one, one[name], elsewhere) for one in made])


class ActorConfig(Settings):
    def get(self, key, otherwise=None):
        return super().get(key, otherwise)


def verl_losses(norm):
    """name: (function, aggregation, its settings)"""
    clip = {"clip_ratio": 0.2, "clip_ratio_low": 0.2, "clip_ratio_high": 0.2, "clip_ratio_c": 3.0}
    dapo = {"clip_ratio": 0.2, "clip_ratio_low": 0.2, "clip_ratio_high": 0.28, "clip_ratio_c": 10.0}
    vanilla = "compute_policy_loss_vanilla"
    return {
        "ppo token-mean": (vanilla, "token-mean", clip),
        "ppo seq-mean-token-sum": (vanilla, "seq-mean-token-sum", clip),
        "ppo seq-mean-token-mean": (vanilla, "seq-mean-token-mean", clip),
        "ppo seq-mean-token-sum-norm": (vanilla, "seq-mean-token-sum-norm",
                                        {**clip, "global_batch_info": {"loss_scale_factor": norm}}),
        "dapo": (vanilla, "token-mean", dapo),
        "gspo": ("compute_policy_loss_gspo", "seq-mean-token-mean",
                 {**clip, "clip_ratio_low": 3e-4, "clip_ratio_high": 4e-4}),
        "gspo wide": ("compute_policy_loss_gspo", "seq-mean-token-mean",
                      {**clip, "clip_ratio_low": 0.15, "clip_ratio_high": 0.25}),
        "cispo": ("compute_policy_loss_cispo", "token-mean", {**clip, "clip_ratio_low": 1.0, "clip_ratio_high": 4.0}),
        "sapo": ("compute_policy_loss_sapo", "seq-mean-token-mean", {**clip, "tau_pos": 1.0, "tau_neg": 1.05}),
        "gmpo": ("compute_policy_loss_geo_mean", "", {**clip, "clip_ratio_low": 0.4, "clip_ratio_high": 0.4}),
        "gpg": ("compute_policy_loss_gpg", "token-mean", clip),
    }


def differentiated(made, loss_of):
    logprobs = tensor(made, "logprobs", -0.5).requires_grad_()
    mask = padded([mask_of(one) for one in made])
    loss = loss_of(logprobs, mask)
    loss.backward()
    assert bool((logprobs.grad[mask == 0] == 0).all())
    return {"loss": number(loss.detach()), "gradient": [[number(g) for g in row[bits > 0]]
                                               for row, bits in zip(logprobs.grad, mask)]}


def of_verl(made, norm):
    wanted = sorted({function for function, _, _ in verl_losses(norm).values()})
    f = authors.definitions(VERL, [*wanted, "agg_loss"], verl_F=masked_functions(), ActorConfig=ActorConfig,
                            DictConfig=dict)
    expected = {}
    for name, (function, aggregation, settings) in verl_losses(norm).items():
        config = ActorConfig({"global_batch_info": {}, **settings})

        def loss_of(logprobs, mask):
            return vars(f)[function](tensor(made, "old", -0.25), logprobs, tensor(made, "advantages", 3.0), mask,
                                     loss_agg_mode=aggregation, config=config)[0]

        expected["verl " + name] = differentiated(made, loss_of)
    return expected


def of_trl(made, norm):
    """`_compute_loss` up to where the tokens' losses became one number."""
    path = "trl/trl/trainer/grpo_trainer.py"
    lines = authors.statements(path, "_compute_loss", lambda node: True,
                               authors.tests("self.loss_type in", "grpo", "sapo"))
    expected = {}
    for name, loss_type, high in (("grpo", "grpo", 0.2), ("dr_grpo", "dr_grpo", 0.2), ("bnpo", "bnpo", 0.2),
                                  ("dapo", "dapo", 0.28), ("cispo", "cispo", 5.0), ("sapo", "sapo", 0.2)):
        def loss_of(logprobs, mask):
            trainer = types.SimpleNamespace(
                loss_type=loss_type, epsilon_low=0.2, epsilon_high=high, max_completion_length=norm, beta=0.0,
                top_entropy_quantile=1.0, off_policy_mask_threshold=None, importance_sampling_level="token",
                aux_loss_enabled=False, use_vllm=False, vllm_importance_sampling_correction=False,
                current_gradient_accumulation_steps=1, accelerator=types.SimpleNamespace(num_processes=1),
                model=types.SimpleNamespace(training=True),
                args=types.SimpleNamespace(delta=None, use_bias_correction_kl=False, sapo_temperature_pos=1.0,
                                           sapo_temperature_neg=1.05),
                _get_per_token_logps_and_entropies=lambda *_, **__: (logprobs, torch.zeros_like(logprobs), None))
            everything = torch.ones_like(mask)
            inputs = {"prompt_ids": everything[:, :1], "prompt_mask": everything[:, :1], "completion_ids": everything,
                      "completion_mask": everything, "tool_mask": mask, "num_items_in_batch": mask.sum(),
                      "advantages": tensor(made, "advantages", 3.0), "old_per_token_logps": tensor(made, "old", -0.25)}
            return authors.run(lines, path, authors.namespace(self=trainer, model=None, inputs=inputs))["loss"]

        expected["trl " + name] = differentiated(made, loss_of)
    return expected


def losses(rng, count):
    cases = []
    for i in range(count):
        made = sequences(rng, rng.choice([0.05, 0.3, 1.0, 2.0]), per_token=i % 2 == 1)
        norm = rng.choice([8, 20, 128])
        cases.append({"norm_length": norm, "sequences": made,
                      "expected": {**of_verl(made, norm), **of_trl(made, norm)}})
    return cases
