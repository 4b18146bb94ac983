"""A reward of one's own: one JSON line per group of trajectories in, one out (docs/howto/write-a-reward.md)."""
import json, sys


def score(tree, number):
    """The terms of one trajectory: the answer for the whole of it, each call where it was made."""
    leaf, terms = tree["leaves"][number], []
    gold = [(call["name"], call["arguments"]) for call in (tree["task"].get("reward") or {}).get("calls", [])]
    node = leaf["node"]
    while node >= 0:
        for call in tree["nodes"][node].get("calls", []):
            right = (call["name"], call["arguments"]) in gold
            terms.append({"name": "call", "value": 1.0 if right else -0.25, "node": node, "span": call["span"]})
        node = tree["nodes"][node].get("parent", -1)
    said = (leaf.get("final_state") or {}).get("answer")
    terms.append({"name": "outcome", "value": 1.0 if said == tree["task"].get("answer") else 0.0})
    return {"leaf": number, "terms": terms}


for line in sys.stdin:
    ask = json.loads(line)
    scores = [score(ask["tree"], number) for number in range(len(ask["tree"]["leaves"]))]
    print(json.dumps({"request": ask["request"], "scores": scores}), flush=True)
