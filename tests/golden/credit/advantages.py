"""Advantages, by the functions of verl, TRL, understand-r1-zero, GDPO, MT-GRPO, GiGPO, Tree-GRPO and HDPO."""
import types

import numpy
import torch

import authors
from groups import Tensors, group_sizes, member, number, padded, reward_maker

VERL = "verl/verl/trainer/ppo/core_algos.py"
EPSILON_AS_HERE = " with 1e-6"  # TRL and NVlabs add 1e-4 to deviations, Hone 1e-6
VERL_MASKED = ("masked_sum", "masked_mean", "masked_var", "masked_whiten")


def masked_functions():
    return authors.definitions("verl/verl/utils/torch_functional.py", VERL_MASKED)


class Settings(dict):
    __getattr__ = dict.__getitem__


def verl(rng, count):
    """Every estimator of verl on the same batches of groups."""
    names = ("compute_gae_advantage_return", "compute_grpo_outcome_advantage", "compute_grpo_passk_outcome_advantage",
             "compute_reinforce_plus_plus_baseline_outcome_advantage", "compute_rloo_outcome_advantage",
             "compute_rloo_vectorized_outcome_advantage", "compute_opo_outcome_advantage",
             "compute_reinforce_plus_plus_outcome_advantage", "compute_gpg_outcome_advantage")
    f = authors.definitions(VERL, names, verl_F=masked_functions())
    cases = []
    while len(cases) < count:
        sizes = group_sizes(rng)
        groups = []
        one_turn = rng.random() < 0.25  # no tool has spoken
        for size in sizes:
            reward, call = reward_maker(rng), reward_maker(rng)
            groups.append([member(rng, reward(), turns=1 if one_turn else None, call_reward=call, malformed=0.2,
                                  values=True) for _ in range(size)])
        t = Tensors(groups)
        if t.mask.sum() < 3 or sum(sizes) > 14:
            continue
        gamma, lam = rng.choice([(1.0, 1.0), (1.0, 0.95), (0.99, 0.9), (0.9, 0.5)])
        rewards = t.outcomes()
        plain = {"response_mask": t.mask, "index": t.index}
        earned = t.where_earned()

        def of(function, **more):
            return t.per_trajectory(function(token_level_rewards=rewards.clone(), **plain, **more)[0])

        def returns(reward_rows, mask):
            return f.compute_reinforce_plus_plus_outcome_advantage(token_level_rewards=reward_rows.clone(),
                                                                   response_mask=mask, config=Settings(gamma=gamma))[0]

        whitened, targets = f.compute_gae_advantage_return(earned.clone(), t.values(), t.mask, gamma, lam)
        compact, compact_mask = t.compacted(earned)
        expected = {
            "grpo": of(f.compute_grpo_outcome_advantage),
            "dr-grpo": of(f.compute_grpo_outcome_advantage, norm_adv_by_std_in_grpo=False),
            "rloo": of(f.compute_rloo_outcome_advantage),
            "rloo-vectorized": of(f.compute_rloo_vectorized_outcome_advantage),
            "opo": of(f.compute_opo_outcome_advantage),
            "gpg": of(f.compute_gpg_outcome_advantage),
            "reinforce++-baseline": of(f.compute_reinforce_plus_plus_baseline_outcome_advantage),
            "gae-whitened": t.per_token(whitened),
            "gae": t.per_token(targets - t.values()),
            "reinforce++": t.per_token(returns(earned, t.mask)),
            "reinforce++-without-tool-tokens": t.per_token(returns(compact, compact_mask), compact_mask),
        }
        if min(sizes) > 1:
            for name, scaled in (("pass-at-k", True), ("pass-at-k-unscaled", False)):
                expected[name] = of(f.compute_grpo_passk_outcome_advantage,
                                    config=Settings(norm_adv_by_std_in_grpo=scaled))
        cases.append({"gamma": gamma, "lambda": lam, "groups": groups, "expected": expected})
    return cases


def plain_groups(rng, sizes, terms, absent=0.0):
    """Groups of one-turn trajectories with several rewards; some have none at all (null)."""
    groups = []
    for size in sizes:
        makers = [reward_maker(rng) for _ in terms]
        group = []
        for _ in range(size):
            none = rng.random() < absent
            rewards = {term: None if none else make() for term, make in zip(terms, makers)}
            group.append({"terms": rewards, "turns": [{"tokens": 1}]})
        groups.append(group)
    return groups


def per_function(groups, terms):
    """Rewards as TRL has them: a row per trajectory, a column per reward function; nan: not scored."""
    return torch.tensor([[float("nan") if one["terms"][term] is None else one["terms"][term] for term in terms]
                         for group in groups for one in group], dtype=torch.float64)


def trl(rng, count):
    """scale_rewards = group, batch, none, with trajectories that nobody could score."""
    path = "trl/trl/trainer/grpo_trainer.py"
    nanstd = authors.definitions("trl/trl/trainer/utils.py", ["nanstd"]).nanstd
    lines = authors.statements(path, "_generate_and_score_completions", authors.assigns("unscorable_mask"),
                               authors.assigns("advantages"))
    cases = []
    while len(cases) < count:
        size = rng.choice([1, 2, 3, 4, 6, 8])
        sizes = [size] * rng.randrange(1, 5)
        groups = plain_groups(rng, sizes, ["outcome"], absent=rng.choice([0, 0, 0.3]))
        if all(one["terms"]["outcome"] is None for group in groups for one in group):
            continue
        expected = {}
        for scale in ("group", "batch", "none"):
            trainer = types.SimpleNamespace(multi_objective_aggregation="sum_then_normalize", scale_rewards=scale,
                                            reward_weights=torch.ones(1), reward_funcs=[None])
            for kind, code in (("", lines), (EPSILON_AS_HERE, authors.with_constant(lines, 1e-4, 1e-6))):
                names = authors.namespace(self=trainer, rewards_per_func=per_function(groups, ["outcome"]),
                                          nanstd=nanstd, num_generations=size, device="cpu")
                advantages = authors.run(code, path, names)["advantages"]
                expected[scale + kind] = Tensors(groups).grouped(number(a) for a in advantages)
        cases.append({"groups": groups, "expected": expected})
    return cases


def gdpo(rng, count):
    """NVlabs' trainer, and TRL's own version of it, with weights."""
    theirs = "GDPO/trl-GDPO/trl-0.18.0-gdpo/trl/trainer/grpo_trainer.py"
    block = authors.statements(theirs, "_generate_and_score_completions", authors.tests("apply_gdpo", "len"),
                               authors.tests("apply_gdpo", "len"))
    trls = "trl/trl/trainer/grpo_trainer.py"
    nanstd = authors.definitions("trl/trl/trainer/utils.py", ["nanstd"]).nanstd
    lines = authors.statements(trls, "_generate_and_score_completions", authors.assigns("unscorable_mask"),
                               authors.assigns("advantages"))
    terms = ["outcome", "preference", "format"]
    cases = []
    for _ in range(count):
        used = terms[:rng.randrange(2, 4)]
        size = rng.randrange(2, 7)
        groups = plain_groups(rng, [size] * rng.randrange(1, 4), used)
        weights = [rng.choice([1.0, 0.1, 0.5, 2.0, 10.0]) for _ in used]
        trainer = types.SimpleNamespace(apply_gdpo=True, reward_weights=torch.tensor(weights), num_generations=size,
                                        multi_objective_aggregation="normalize_then_sum", reward_funcs=used)
        rewards = per_function(groups, used)
        t, expected = Tensors(groups), {}
        for name, path, code in (("nvlabs", theirs, block), ("trl", trls, lines)):
            for kind, variant in (("", code), (EPSILON_AS_HERE, authors.with_constant(code, 1e-4, 1e-6))):
                names = authors.namespace(self=trainer, rewards_per_func=rewards.clone(), nanstd=nanstd,
                                          num_generations=size, device="cpu")
                advantages = authors.run(variant, path, names)["advantages"]
                expected[name + kind] = t.grouped(number(a) for a in advantages)
        cases.append({"weights": dict(zip(used, weights)), "groups": groups, "expected": expected})
    return cases


def dr_grpo(rng, count):
    f = authors.methods("understand-r1-zero/train_zero_math.py", "ZeroMathLearner", ["compute_monte_carlo_advantages"])
    cases = []
    for _ in range(count):
        size = rng.randrange(2, 9)
        groups = plain_groups(rng, [size] * rng.randrange(1, 5), ["outcome"])
        t = Tensors(groups)
        learner = types.SimpleNamespace(args=types.SimpleNamespace(num_samples=size, critic_type="drgrpo"))
        advantages = f.compute_monte_carlo_advantages(learner, t.outcomes(), t.mask)
        cases.append({"groups": groups, "expected": {"dr-grpo": t.grouped(number(a) for a in advantages)}})
    return cases


def mt_member(rng):
    """Calls that were answered, calls that nobody answered, trajectories without a call, and notices of the loop
    (the user's, to this method) before the first result."""
    kind = rng.choice(["calls", "calls", "calls", "unanswered", "none", "notice"])

    def reward():
        return round(rng.uniform(-1, 1), 3)

    def calling():
        turn = {"tokens": rng.randrange(2, 5)}
        turn["calls"] = [{"begin": 0, "end": rng.randrange(1, turn["tokens"] + 1), "terms": {"call": reward()}}]
        return turn

    turns = []
    if kind == "notice":
        turns += [{"tokens": rng.randrange(1, 4)}, {"author": "user", "tokens": 2}]
    for _ in range(rng.randrange(1, 4) if kind in ("calls", "notice") else 0):
        turns += [calling(), {"author": "tool", "tokens": rng.randrange(1, 4)}]
    turns.append(calling() if kind == "unanswered" else {"tokens": rng.randrange(1, 5)})
    return {"terms": {"outcome": reward()}, "turns": turns}


def mt_grpo(rng, count):
    theirs = "Multi-Turn-RL-Agent/verifiers/trainers/"
    normalise = authors.methods(theirs + "grpo_env_trainer.py", "GRPOEnvTrainer", ["_compute_normalized_advantages"])
    assign = authors.methods(theirs + "mt_grpo_env_trainer.py", "MTGRPOEnvTrainer",
                             ["_find_result_positions", "_assign_advantages"])
    cases = []
    for _ in range(count):
        size, kappa = rng.randrange(2, 7), rng.choice([1.0, 0.5, 2.0])
        groups = [[mt_member(rng) for _ in range(size)] for _ in range(rng.randrange(1, 3))]
        t = Tensors(groups)
        outcome = torch.tensor([one["terms"]["outcome"] for one in t.members])
        turn = torch.tensor([sum(call["terms"]["call"] for turn in one["turns"] for call in turn.get("calls", []))
                             for one in t.members])
        trainer = types.SimpleNamespace(num_generations=size, turn_advantage_coef=kappa,
                                        accelerator=types.SimpleNamespace(process_index=0, device="cpu"))

        def normalised(rewards):
            return normalise._compute_normalized_advantages(trainer, rewards, len(rewards))[2]

        says = {"policy": ("assistant", "..."), "tool": ("user", "<result>...</result>"), "user": ("user", "Error")}
        messages = [[dict(zip(("role", "content"), says[turn.get("author", "policy")])) for turn in one["turns"]]
                    for one in t.members]
        positions = assign._find_result_positions(trainer, None, messages)
        # A row at a time: the segments that the method counts end where the row does.
        rows = []
        for i, one in enumerate(t.members):
            length = sum(turn["tokens"] for turn in one["turns"])
            row = assign._assign_advantages(trainer, t.mask[i:i + 1, :length], normalised(turn)[i:i + 1],
                                            normalised(outcome)[i:i + 1], normalised(turn + outcome)[i:i + 1],
                                            positions[i:i + 1])
            rows.append(row[0].tolist())
        cases.append({"kappa": kappa, "groups": groups, "expected": {"mt-grpo": t.per_token(padded(rows))}})
    return cases


def gigpo_member(rng, turns, invalid):
    """Rewards on turns, and observations of which two are alike."""
    made = []
    for t in range(turns):
        if t > 0:
            made.append({"author": "tool", "tokens": [rng.choice([11, 12]), 5]})
        turn = {"tokens": rng.randrange(1, 4), "terms": {"step": rng.choice([0.0, 0.0, 0.5, -0.25])}}
        if invalid and rng.random() < 0.25:
            turn["faults"] = [{"begin": 0, "end": 1}]
        made.append(turn)
    return {"terms": {"outcome": rng.choice([0.0, 1.0, round(rng.uniform(-1, 2), 3)])}, "turns": made}


class GigpoRows:
    """A row per turn, as verl-agent has them: every row of an episode carries the episode's reward."""

    def __init__(self, groups, penalty_is_reward):
        self.places, self.rewards, self.observations, self.index, self.episode, self.valid = [], [], [], [], [], []
        sizes, totals = [], []
        for g, group in enumerate(groups):
            for m, one in enumerate(group):
                policy = [turn for turn in one["turns"] if turn.get("author", "policy") == "policy"]
                seen = ["start"] + [str(turn["tokens"]) for turn in one["turns"] if turn.get("author") == "tool"]
                rewards = [turn["terms"]["step"] for turn in policy]
                rewards[-1] += one["terms"]["outcome"]
                for k, turn in enumerate(policy):
                    if penalty_is_reward and turn.get("faults"):
                        rewards[k] -= penalty_is_reward
                    self.places.append((g, m))
                    self.observations.append(seen[k])
                    self.index.append(f"group {g}")
                    self.episode.append(f"{g}-{m}")
                    self.valid.append(not turn.get("faults"))
                    sizes.append(turn["tokens"])
                self.rewards += rewards
                totals += [sum(rewards)] * len(policy)
        self.mask = padded([[1.0] * size for size in sizes])
        self.scores = padded([[0.0] * (size - 1) + [total] for size, total in zip(sizes, totals)])

    def of_rows(self, tensor, groups):
        """One number per turn, by group and trajectory."""
        result = [[[] for _ in group] for group in groups]
        for (g, m), row in zip(self.places, tensor):
            result[g][m].append(number(row[0]))
        return result


def gigpo_run(groups, gamma, weight, mode, penalty, penalty_is_reward):
    f = authors.definitions("SPEAR/verl-agent/gigpo/core_gigpo.py",
                            ("to_hashable", "compute_step_discounted_returns", "compute_gigpo_outcome_advantage",
                             "episode_norm_reward", "build_step_group", "step_norm_reward"))
    punish = authors.definitions("SPEAR/verl-agent/verl/trainer/ppo/ray_trainer.py", ["apply_invalid_action_penalty"])
    rows = GigpoRows(groups, penalty if penalty_is_reward else 0)
    objects = {"rewards": numpy.array(rows.rewards), "traj_uid": numpy.array(rows.episode, dtype=object),
               "active_masks": numpy.ones(len(rows.rewards)), "is_action_valid": numpy.array(rows.valid)[:, None]}
    tensors = {"input_ids": rows.mask, "prompts": torch.zeros(len(rows.places), 1), "token_level_scores": rows.scores,
               "attention_mask": torch.cat([torch.ones(len(rows.places), 1), rows.mask], dim=1).long()}
    data = authors.Batch(tensors, objects)
    data.batch["step_rewards"] = f.compute_step_discounted_returns(data, gamma).double()
    if penalty and not penalty_is_reward:
        data, _ = punish.apply_invalid_action_penalty(data, penalty)
    index, episode = numpy.array(rows.index, dtype=object), numpy.array(rows.episode, dtype=object)
    scores, steps = data.batch["token_level_scores"], data.batch["step_rewards"]
    observations = numpy.array(rows.observations, dtype=object)
    whole, _ = f.compute_gigpo_outcome_advantage(scores.clone(), steps, rows.mask, observations, index, episode,
                                                 step_advantage_w=weight, mode=mode)
    once = f.episode_norm_reward(scores.clone(), rows.mask, index, episode, 1e-6, mode == "mean_norm",
                                 compute_mean_std_cross_all_data=False)
    step = f.step_norm_reward(steps, rows.mask, f.build_step_group(observations, index), 1e-6, mode == "mean_norm")
    return {"default": rows.of_rows(whole, groups),
            "trajectories-once": rows.of_rows(once + weight * step, groups)}


def gigpo(rng, count):
    cases = []
    for i in range(count):
        invalid = i % 3 == 2
        turns = rng.choice([None, None, 1, 2, 3])
        groups = [[gigpo_member(rng, turns or rng.randrange(1, 5), invalid) for _ in range(size)]
                  for size in group_sizes(rng)]
        gamma, weight = rng.choice([0.95, 1.0, 0.5]), rng.choice([1.0, 0.5, 2.0])
        mode = rng.choice(["mean_norm", "mean_std_norm"])
        penalty = 0.1 if invalid else 0.0
        expected = gigpo_run(groups, gamma, weight, mode, penalty, False)
        if invalid:
            expected["penalty-is-reward"] = gigpo_run(groups, gamma, weight, mode, penalty, True)["trajectories-once"]
        cases.append({"gamma": gamma, "weight": weight, "mode": mode, "penalty": penalty, "groups": groups,
                      "expected": expected})
    return cases


def tree_grpo(rng, count):
    """Tasks of several trees, each of one to four leaves: rewards per leaf."""
    algos = authors.definitions("Tree-GRPO/verl/trainer/ppo/core_algos.py", ["compute_grpo_outcome_advantage"])
    f = authors.definitions("Tree-GRPO/verl/trainer/ppo/ray_trainer_ts.py", ["compute_advantage"], core_algos=algos,
                            DataProto=authors.Batch)
    cases = []
    for _ in range(count):
        reward = reward_maker(rng)
        trees = [[reward() for _ in range(rng.randrange(1, 5))] for _ in range(rng.randrange(1, 5))]
        leaves = [leaf for tree in trees for leaf in tree]
        ones = torch.ones(len(leaves), 2)
        data = authors.Batch({"token_level_rewards": padded([[0.0, leaf] for leaf in leaves]), "responses": ones,
                              "attention_mask": ones},
                             {"uid": numpy.array(["task"] * len(leaves)),
                              "tree_uid": numpy.array([str(t) for t, tree in enumerate(trees) for _ in tree])})
        data = f.compute_advantage(data, "tree")
        cases.append({"trees": trees, "expected": {
            "tree": [number(row[0]) for row in data.batch["advantages"]],
            "inter": [number(row[0]) for row in data.batch["inter_tree_advantages"]]}})
    return cases


def hdpo(rng, count):
    """Their rewards, then their two advantages. Tool turns: interactions of the trajectory."""
    theirs = "Metis/verl_tool/workers/reward_manager/metis.py"
    grpo = authors.definitions("Metis/verl/verl/trainer/ppo/core_algos.py", ["compute_grpo_outcome_advantage"])
    f = authors.definitions("Metis/verl_tool/trainer/ppo/hdpo_algos.py",
                            ["compute_grpo_conditional_advantage", "compute_hdpo_advantage"],
                            compute_grpo_outcome_advantage=grpo.compute_grpo_outcome_advantage)
    form = authors.definitions(theirs, ["format_reward"])
    cases = []
    while len(cases) < count:
        groups = []
        for size in group_sizes(rng):
            right, tidy = rng.random(), rng.random()
            group = []
            for _ in range(size):
                one = member(rng, float(rng.random() < right), malformed=0.2)
                one["terms"]["format"] = float(rng.random() < tidy)
                group.append(one)
            groups.append(group)
        t = Tensors(groups)
        says = {1.0: "<reason>so</reason><answer>4</answer>", 0.0: "<reason>so<answer>4</answer>"}
        queue = [one["terms"]["outcome"] for one in t.members]
        rewards = authors.methods(theirs, "MetisRewardManager", ["__call__"], format_reward=form.format_reward,
                                  extract_answer=lambda text: "4", answer_reward=lambda *_: queue.pop(0))
        decoded = []
        for one in t.members:
            decoded += ["question", says[one["terms"]["format"]]]
        manager = types.SimpleNamespace(tokenizer=types.SimpleNamespace(decode=lambda *_, **__: decoded.pop(0)),
                                        client=None, model_name="", reward_fn_key="source", num_examine=0)
        calls = numpy.empty(len(t.members), dtype=object)
        calls[:] = [[{}] * sum(bool(turn.get("calls") or turn.get("faults")) for turn in one["turns"])
                    for one in t.members]
        lengths = (padded([[1.0] * sum(turn["tokens"] for turn in one["turns"]) for one in t.members]))
        data = authors.Batch({"responses": t.mask, "prompts": torch.zeros(len(t.members), 1),
                              "attention_mask": torch.cat([torch.ones(len(t.members), 1), lengths], dim=1).long()},
                             {"reward_model": [{}] * len(t.members), "source": ["x"] * len(t.members),
                              "tool_interact_info": calls})
        accuracy, tool = rewards.__dict__["__call__"](manager, data)
        both, _ = f.compute_hdpo_advantage(accuracy.double(), tool.double(), t.mask, t.index)
        cases.append({"groups": groups, "expected": {"accuracy": t.per_trajectory(both["acc_advantages"]),
                                                     "tool": t.per_trajectory(both["tool_advantages"])}})
    return cases
