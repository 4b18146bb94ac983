#!/usr/bin/env python3
"""An environment in Python: guess a number (docs/python.md)."""
import hone


@hone.environment
class Guess:
    def reset(self, task):
        self.number, self.guesses = str(task.metadata["number"]), 0
        return "I think of a number from 0 to 9. Which?"

    def step(self, action):
        if action.answer is None:
            return {"notices": ["Guess a number."], "reward": False}
        self.guesses += 1
        right = action.answer.strip() == self.number
        return {"reply": None if right else "No. Try again.", "reward": right, "done": right or self.guesses == 5,
                "state": {"guesses": self.guesses}}


hone.run()
