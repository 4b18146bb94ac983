"""What is no advantage: ToolRL's match of calls, DAPO's penalty and filter, SimpleTIR's masks, SPEAR's bonus, filter
and replay."""
import asyncio
import types

import numpy
import torch

import authors
from advantages import VERL
from groups import Tensors, group_sizes, member, number, padded, reward_maker


def toolrl_call(rng):
    keys = rng.sample(["q", "r", "k"], rng.randrange(0, 4))
    values = ["x", "y", 2, 3, 0.5, True, ["a"], {"b": 2}, None]
    return {"name": rng.choice(["a", "a", "b"]), "parameters": {key: rng.choice(values) for key in keys}}


def toolrl(rng, count):
    """Rewards from -3 to 3 for the calls that were made, given the right ones."""
    f = authors.definitions("ToolRL/verl/utils/reward_score/rlla.py", ["match_score", "compute_tool_call_reward"])
    cases = []
    for _ in range(count):
        gold = [toolrl_call(rng) for _ in range(rng.randrange(1, 5))]
        made = []
        for call in rng.sample(gold, rng.randrange(len(gold) + 1)):  # right ones, some of them changed
            made.append(call if rng.random() < 0.5 else {"name": call["name"],
                                                         "parameters": toolrl_call(rng)["parameters"]})
        made += [toolrl_call(rng) for _ in range(rng.randrange(3))]
        rng.shuffle(made)
        reward = f.compute_tool_call_reward(gold, made, 3.0, -3.0)
        cases.append({"gold": gold, "made": made, "expected": number(reward)})
    return cases


def dapo(rng, count):
    """Rewards after the penalty on length, and which groups are left."""
    manager = authors.methods("verl/verl/workers/reward_manager/dapo.py", "DAPORewardManager", ["__call__"])
    grpo = authors.definitions(VERL, ["compute_grpo_outcome_advantage"])
    trainer = "ARPO/ARPO/verl_arpo_entropy/recipe/dapo/dapo_ray_trainer.py"
    lines = authors.statements(trainer, "fit", authors.assigns("prompt_uid2metric_vals"),
                               authors.assigns("kept_prompt_uids"))
    cases = []
    for _ in range(count):
        groups = []
        for size in group_sizes(rng):
            reward = reward_maker(rng)
            groups.append([member(rng, reward()) for _ in range(size)])
        t = Tensors(groups)
        lengths = padded([[1.0] * sum(turn["tokens"] for turn in one["turns"]) for one in t.members])
        longest = lengths.shape[1] + rng.randrange(3)  # nobody is longer than the rollout allows
        cache = rng.randrange(1, longest + 1)
        scores = [one["terms"]["outcome"] for one in t.members]
        queue = list(scores)
        verl = types.SimpleNamespace(
            _extract_reward_from_rm_scores=lambda *_: None, reward_fn_key="source", num_examine=0, max_resp_len=longest,
            tokenizer=types.SimpleNamespace(decode=lambda *_, **__: "", eos_token="<end>"),
            compute_score=lambda **_: queue.pop(0),
            overlong_buffer_cfg=types.SimpleNamespace(enable=True, len=cache, penalty_factor=1.0, log=False))
        many = len(t.members)
        data = authors.Batch({"responses": lengths, "prompts": torch.zeros(many, 1),
                              "attention_mask": torch.cat([torch.ones(many, 1), lengths], dim=1).long()},
                             {"reward_model": [{"ground_truth": ""}] * many, "source": ["x"] * many,
                              "extra_info": [{} for _ in range(many)]})
        rewards = manager.__dict__["__call__"](verl, data).double()
        advantages, _ = grpo.compute_grpo_outcome_advantage(rewards.clone(), t.mask, t.index)
        kept = authors.run(lines, trainer, authors.namespace(
            metric_name="score", new_batch=types.SimpleNamespace(
                non_tensor_batch={"uid": t.index, "score": numpy.array(scores)})))["kept_prompt_uids"]
        cases.append({"longest": longest, "cache": cache, "groups": groups,
                      "expected": {"rewards": t.grouped(number(r) for r in rewards.sum(dim=-1)),
                                   "advantages": t.per_trajectory(advantages),
                                   "kept": [f"group {g}" in kept for g in range(len(groups))]}})
    return cases


SIMPLETIR_TEXTS = {
    "code": "Let me see.\n```py\nprint(1)\n```",
    "answer": "So it is \\boxed{4}.",
    "text": "I do not know.",
    "cut code": "Let me see.\n```py\nprint(",
    "cut answer": "So it is \\boxed{",
}


def simpletir_member(rng):
    """What each turn was; the last one may be anything."""
    kinds = ["code"] * rng.randrange(3)
    return kinds + [rng.choice(["answer", "answer", "answer", "text", "cut code", "cut answer", "code"])]


def simpletir_turns(rng, kinds):
    turns = []
    for kind in kinds:
        if turns:
            turns.append({"author": "tool", "tokens": 1})
        turns.append({"tokens": rng.randrange(1, 4)})
        if kind == "code":
            turns[-1]["calls"] = [{"begin": 0, "end": 1}]
    return turns


def simpletir(rng, count):
    """Masked trajectories, dropped groups, and advantages before both."""
    async def sandbox(tasks, num_processes):
        return [True] * len(tasks), ["1"] * len(tasks), [""] * len(tasks)

    helpers = authors.definitions("SimpleTIR/recipe/simpletir/agent_utils.py", ["truncate_content", "count_lines",
                                                                                "MAX_LENGTH_TRUNCATE_CONTENT"])
    agent = authors.methods("SimpleTIR/recipe/simpletir/agent_utils.py", "AgentHelper", ["execute_predictions"],
                            parallel_sandbox=sandbox, asyncio=asyncio, **vars(helpers))
    trainer = "SimpleTIR/recipe/simpletir/simpletir_ray_trainer.py"
    drop = authors.statements(trainer, "fit", authors.tests("uid_rewards.std"), authors.tests("uid_rewards.std"))
    grpo = authors.definitions("SimpleTIR/verl/trainer/ppo/core_algos.py", ["compute_grpo_outcome_advantage"])
    helper = types.SimpleNamespace(config=types.SimpleNamespace(mask_void_turns=True), error_n_line=1,
                                   prompt_dict={"no_tool_prompt": "\n", "final_prompt": "\n"})
    cases = []
    for _ in range(count):
        groups, kinds = [], []
        for size in group_sizes(rng):
            reward = reward_maker(rng)
            kinds.append([simpletir_member(rng) for _ in range(size)])
            groups.append([{"terms": {"outcome": reward()}, "turns": simpletir_turns(rng, one)} for one in kinds[-1]])
        t = Tensors(groups)
        masked = []
        for one in [one for group in kinds for one in group]:
            void = False
            for kind in one:
                _, _, is_void, _ = agent.execute_predictions(helper, [SIMPLETIR_TEXTS[kind]], torch.tensor([True]))
                void = void or bool(is_void[0])
            masked.append(void)
        advantages, _ = grpo.compute_grpo_outcome_advantage(t.outcomes(), t.mask, t.index)
        kept = torch.ones(len(t.members), dtype=torch.bool)
        settings = types.SimpleNamespace(config=types.SimpleNamespace(trainer=types.SimpleNamespace(acc_filter=False)))
        for group in dict.fromkeys(t.index):
            mask = t.index == group
            authors.run(drop, trainer, authors.namespace(
                self=settings, uid_mask=mask, valid_mask=kept, is_filtered=False,
                uid_rewards=t.outcomes()[torch.tensor(mask)].sum(-1)))
        cases.append({"kinds": kinds, "groups": groups,
                      "expected": {"masked": t.grouped(masked), "advantages": t.per_trajectory(advantages),
                                   "kept": [all(group) for group in t.grouped(kept.tolist())]}})
    return cases


def spear_messages(one):
    """A message has parsed calls, or none: what could not be read is text."""
    return [{"role": "assistant", "content": "", "tool_calls": [{}] if turn.get("calls") else None}
            for turn in one["turns"] if turn.get("author", "policy") == "policy"]


def spear_kept(rewards, sizes, share):
    """Which groups the filter leaves."""
    path = "SPEAR/verl/verl/trainer/ppo/ray_trainer.py"
    f = authors.methods(path, "RayPPOTrainer", ["_filter_rollout"])
    rollout = types.SimpleNamespace(rollout_filter_ratio=share, rollout_filter_type="std", n=sizes[0])
    trainer = types.SimpleNamespace(config=types.SimpleNamespace(
        data=types.SimpleNamespace(train_batch_size=len(sizes)),
        actor_rollout_ref=types.SimpleNamespace(rollout=rollout)))
    data = authors.Batch({"group": torch.arange(len(sizes)).repeat_interleave(sizes[0])})
    left = f._filter_rollout(trainer, data, rewards[:, None], {})[0]
    return [g in left.batch["group"].tolist() for g in range(len(sizes))]


def spear(rng, count):
    """Rewards with the bonus, advantages, and which groups are left with and without it."""
    score = {}
    f = authors.definitions("SPEAR/verl/recipe/spear/reward.py",
                            ["default_compute_score_enforce_toolcall_posneg_decay"],
                            default_compute_score=lambda *_, **__: dict(score))
    grpo = authors.definitions("SPEAR/verl/verl/trainer/ppo/core_algos.py", ["compute_grpo_outcome_advantage"])
    cases = []
    for _ in range(count):
        size, horizon, share = rng.randrange(2, 5), rng.choice([50, 200]), rng.choice([0.75, 0.5, 0.6])
        step = rng.choice([0, rng.randrange(horizon), rng.randrange(horizon), horizon, horizon + 7])
        groups = [[member(rng, round(rng.uniform(-1, 1), 3), malformed=0.3) for _ in range(size)]
                  for _ in range(rng.randrange(2, 6))]
        if rng.random() < 0.2:  # more turns than are paid
            many = [{"tokens": 1, "calls": [{"begin": 0, "end": 1}]}] * 12
            groups[0][0]["turns"] = many + [{"tokens": 1}]
        t = Tensors(groups)
        rewards = []
        for one in t.members:
            score.update(score=one["terms"]["outcome"])
            rewards.append(f.default_compute_score_enforce_toolcall_posneg_decay(
                "", "", "", "", "", tools=[], messages=spear_messages(one), global_steps=step,
                use_toolcall_reward="cosine", max_toolcall_steps=horizon)["score"])
        paid = torch.tensor(rewards)
        advantages, _ = grpo.compute_grpo_outcome_advantage(t.on_last(rewards), t.mask, t.index,
                                                            norm_adv_by_std_in_grpo=False)
        plain = torch.tensor([one["terms"]["outcome"] for one in t.members])
        cases.append({"step": step, "horizon": horizon, "keep": share, "groups": groups,
                      "expected": {"rewards": t.grouped(number(r) for r in rewards),
                                   "advantages": t.per_trajectory(advantages),
                                   "kept": spear_kept(paid, t.sizes, share),
                                   "kept-by-outcome": spear_kept(plain, t.sizes, share)}})
    return cases


def spear_buffer(capacity, scaled):
    grpo = authors.definitions("SPEAR/verl/verl/trainer/ppo/core_algos.py", ["compute_grpo_outcome_advantage"])
    estimator = types.SimpleNamespace(GRPO="grpo")
    buffer = authors.definitions("SPEAR/verl/verl/trainer/ppo/ray_trainer_hybrid.py", ["TrajectoryBufferBatch"],
                                 AdvantageEstimator=estimator, core_algos=grpo, DataProto=authors.Batch)
    return buffer.TrajectoryBufferBatch(None, buffer_size=capacity, tolerate_steps=10,
                                        weight_decay_trajectory_replay=-1, adv_estimator=estimator.GRPO,
                                        norm_adv_by_std_in_grpo=scaled)


def spear_replay(rng, count):
    """Steps of a run: what is taken out of the buffer before the step's own trajectories go into it. Of the good ones
    a random choice is taken: `candidates` are those it is made of."""
    cases = []
    for _ in range(count):
        size, capacity, scaled = rng.randrange(2, 6), rng.choice([2, 3, 4, 8]), rng.random() < 0.3
        buffer = spear_buffer(capacity, scaled)
        chosen_from = {}
        prepare = buffer.prepare_for_selection

        def watched(*arguments):
            result = prepare(*arguments)
            rows = result[0].batch  # what is chosen takes its place afterwards
            chosen_from.clear()
            chosen_from.update((str(int(i)), number(a[0])) for i, a in zip(rows["id"], rows["advantages"]))
            return result

        buffer.prepare_for_selection = watched
        steps, next_id, step = [], 0, 0
        for _ in range(rng.randrange(4, 9)):
            step += rng.choice([1, 1, 1, 1, 2, 7])
            taken = None
            if buffer.is_full_capacity():
                selected = buffer.get_buffer()
                taken = {"count": len(selected.batch), "baseline": number(selected.meta_info["reward_mean_50p"]),
                         "deviation": number(selected.meta_info["reward_std_50p"]),
                         "candidates": dict(chosen_from)}
                buffer.reset_buffer()
            groups = [[{"id": 0, "reward": rng.choice([0.0, 1.0, round(rng.uniform(-1, 1), 3)]),
                        "call": rng.choice(["read", "read", "read", "unreadable", "none"])} for _ in range(size)]
                      for _ in range(rng.randrange(1, 4))]
            members = [one for group in groups for one in group]
            for one in members:
                one["id"], next_id = next_id, next_id + 1
            rewards = padded([[0.0, one["reward"]] for one in members])
            index = numpy.array([f"{step}-{g}" for g, group in enumerate(groups) for _ in group], dtype=object)
            grpo = authors.definitions("SPEAR/verl/verl/trainer/ppo/core_algos.py", ["compute_grpo_outcome_advantage"])
            mask = torch.ones_like(rewards)
            advantages, _ = grpo.compute_grpo_outcome_advantage(rewards.clone(), mask, index,
                                                                norm_adv_by_std_in_grpo=False)
            batch = authors.Batch({"advantages": advantages, "response_mask": mask,
                                   "id": torch.tensor([one["id"] for one in members])}, {"uid": index})
            messages = [{"messages": [{"role": "assistant", "content": "",
                                       "tool_calls": [{}] if one["call"] == "read" else None}]}
                        for one in members]
            buffer.remove_old()
            buffer.update_batch(messages, batch, rewards, {}, size, step)
            steps.append({"step": step, "taken": taken, "groups": groups})
        cases.append({"capacity": capacity, "divide_by_deviation": scaled, "steps": steps})
    return cases
