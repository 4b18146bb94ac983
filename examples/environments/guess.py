#!/usr/bin/env python3
"""An environment in any language: guess a number. One JSON object a line in, one out."""
import json
import sys

episodes = {}
last = 0


def opened(state):
    global last
    last += 1
    episodes[str(last)] = state
    return str(last)


def step(state, turn):
    answer = turn["answer"]
    if answer is None:
        return {"notices": ["Guess a number."], "final_state": {"verdict": False, "answer": None}}
    right = answer.strip() == str(state["number"])
    state["guesses"] += 1
    over = right or state["guesses"] == 5
    reply = {"final_state": {"verdict": right, "answer": answer, "guesses": state["guesses"]}}
    if over:
        reply["ending"] = "answered" if right else "user_stop"
    else:
        reply["user"] = "No. Try again."
    return reply


def handle(request):
    method = request["method"]
    if method == "reset":
        number = request["task"]["metadata"]["number"]
        text = "I think of a number from 0 to 9. Which?"
        return {"episode": opened({"number": number, "guesses": 0}),
                "messages": [{"role": "user", "content": text}]}
    if method == "step":
        return step(episodes[request["episode"]], request["turn"])
    if method == "clone":
        return {"episode": opened(dict(episodes[request["episode"]]))}
    episodes.pop(request["episode"], None)
    return {}


for line in sys.stdin:
    try:
        reply = handle(json.loads(line))
    except KeyError as error:
        reply = {"error": f"missing: {error}"}
    print(json.dumps(reply), flush=True)
