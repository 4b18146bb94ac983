"""Random groups, in Hone's short form (src/credit/short_form.h), and the same as tensors."""
import numpy
import torch


def reward_maker(rng):
    """Rewards of one group: binary, all equal, negative, continuous, few values."""
    kind = rng.randrange(6)
    if kind == 0:
        return lambda: float(rng.randrange(2))
    if kind == 1:
        same = rng.choice([0.0, 1.0, 0.3, -0.7])
        return lambda: same
    if kind == 2:
        return lambda: -round(rng.uniform(0, 3), 3)
    if kind == 3:
        return lambda: rng.choice([-1.0, 0.0, 0.5, 1.0])
    return lambda: round(rng.uniform(-2, 2), 3)


def policy_turn(rng, calls, malformed=0.0, values=False):
    """A turn of one to five tokens, with at most one call, or one that cannot be read."""
    size = rng.randrange(1, 6)
    turn = {"tokens": size}
    if rng.random() < calls:
        begin = rng.randrange(size)
        span = {"begin": begin, "end": rng.randrange(begin + 1, size + 1)}
        turn["faults" if rng.random() < malformed else "calls"] = [span]
    if values:
        turn["values"] = [round(rng.uniform(-1, 1), 3) for _ in range(size)]
    return turn


def tool_turn(rng):
    return {"author": "tool", "tokens": rng.randrange(1, 4)}


def member(rng, outcome, turns=None, call_reward=None, **kinds):
    """A trajectory of one to four turns with a tool's between them; it ends with the policy's."""
    count = turns or rng.randrange(1, 5)
    made = []
    for t in range(count):
        if t > 0:
            made.append(tool_turn(rng))
        turn = policy_turn(rng, 0.7 if t + 1 < count else 0.1, **kinds)
        for call in turn.get("calls", []) + turn.get("faults", []):
            if call_reward is not None:
                call["terms"] = {"call": call_reward()}
        made.append(turn)
    return {"terms": {"outcome": outcome}, "turns": made}


def mask_of(one):
    """1 where the policy wrote, over all tokens of a trajectory."""
    return [bit for turn in one["turns"] for bit in [int(turn.get("author", "policy") == "policy")] * turn["tokens"]]


def padded(rows, width=None):
    width = width or max(len(row) for row in rows)
    return torch.tensor([list(row) + [0.0] * (width - len(row)) for row in rows], dtype=torch.float64)


def spread(one, of_policy, elsewhere=0.0):
    """One number per policy token, put where those stand among all tokens."""
    numbers = iter(of_policy)
    return [next(numbers) if bit else elsewhere for bit in mask_of(one)]


class Tensors:
    """A batch of groups as verl's functions take it."""

    def __init__(self, groups):
        self.members = [one for group in groups for one in group]
        self.index = numpy.array([f"group {g}" for g, group in enumerate(groups) for _ in group], dtype=object)
        self.mask = padded([mask_of(one) for one in self.members])
        self.sizes = [len(group) for group in groups]

    def on_last(self, rewards):
        """Rewards on the last token of each trajectory."""
        return padded([[0.0] * (len(mask_of(one)) - 1) + [reward] for one, reward in zip(self.members, rewards)])

    def outcomes(self):
        return self.on_last([one["terms"]["outcome"] for one in self.members])

    def where_earned(self):
        """The outcome on the last token, what calls earned on theirs."""
        rows = []
        for one in self.members:
            row, at = [0.0] * len(mask_of(one)), 0
            for turn in one["turns"]:
                for call in turn.get("calls", []) + turn.get("faults", []):
                    row[at + call["end"] - 1] += call.get("terms", {}).get("call", 0.0)
                at += turn["tokens"]
            row[-1] += one["terms"]["outcome"]
            rows.append(row)
        return padded(rows)

    def values(self, elsewhere=0.5):
        return padded([spread(one, [v for turn in one["turns"] for v in turn.get("values", [])], elsewhere)
                       for one in self.members])

    def compacted(self, tensor):
        """The same without the tokens that the policy did not write, and the mask of that."""
        rows = [[float(x) for x, bit in zip(row, mask) if bit] for row, mask in zip(tensor, self.mask)]
        return padded(rows), padded([[1.0] * len(row) for row in rows])

    def grouped(self, numbers):
        """One entry per trajectory, by group."""
        numbers, at, result = list(numbers), 0, []
        for size in self.sizes:
            result.append(numbers[at:at + size])
            at += size
        return result

    def per_trajectory(self, tensor):
        """Of what is the same on all policy tokens of a trajectory and 0 elsewhere."""
        chosen = []
        for row, mask in zip(tensor, self.mask):
            own = row[:len(mask)][mask > 0]
            assert bool((own == own[0]).all()) and bool((row[mask == 0] == 0).all())
            chosen.append(number(own[0]))
        return self.grouped(chosen)

    def per_token(self, tensor, mask=None):
        mask = self.mask if mask is None else mask
        return self.grouped([[number(x) for x in row[bits > 0]] for row, bits in zip(tensor, mask)])


def number(value):
    """Eight digits are more than anybody compares."""
    return float(f"{float(value):.8g}")


def group_sizes(rng, equal=False, least=1):
    count = rng.randrange(1, 5)
    if equal:
        return [rng.randrange(max(least, 2), 9)] * count
    return [rng.randrange(least, 9) for _ in range(count)]
