import unittest

from support import ProgramTest

GUESS = """
    import hone

    @hone.environment
    class Guess:
        def reset(self, task, seed):
            print("said")
            self.number, self.guesses, self.closed = task.metadata["number"], 0, False
            return "I think of a number. Which?"

        def step(self, action):
            self.guesses += 1
            if action.answer is None:
                return {"notices": [f"{len(action.calls)} calls: {[call.content for call in action.calls]}"]}
            if action.answer == "bug":
                return {}[action.answer]
            right = action.answer == str(self.number)
            return {"reply": "" if right else "No.", "done": right, "reward": right, "state": {"guesses": self.guesses}}

    hone.run()
"""


def turn(answer=None, **more):
    return {"calls": [], "results": [], "answer": answer, "tokens": 3, **more}


class Environments(ProgramTest):
    def setUp(self):
        self.program = self.start(GUESS, role="environment")

    def reset(self, number):
        return self.program.ask({"method": "reset", "task": {"id": "t", "metadata": {"number": number}}, "seed": 1})

    def step(self, episode, *args, **more):
        return self.program.ask({"method": "step", "episode": episode, "turn": turn(*args, **more)})

    def test_an_episode_from_reset_to_its_end(self):
        opened = self.reset(4)
        self.assertEqual(opened["messages"], [{"role": "user", "content": "I think of a number. Which?"}])
        self.assertEqual(self.step(opened["episode"], "3"),
                         {"user": "No.", "final_state": {"answer": "3", "verdict": False, "guesses": 1}})
        calls = [{"name": "look", "arguments": {}}]
        self.assertEqual(self.step(opened["episode"], calls=calls, results=[{"call": 0, "content": "x"}]),
                         {"notices": ["1 calls: ['x']"],
                          "final_state": {"answer": "3", "verdict": False, "guesses": 1}})
        self.assertEqual(self.step(opened["episode"], "4"),
                         {"user": "", "ending": "answered",
                          "final_state": {"answer": "4", "verdict": True, "guesses": 3}})
        self.assertEqual(self.program.ask({"method": "close", "episode": opened["episode"]}), {})

    def test_episodes_and_clones_are_independent(self):
        first, second = self.reset(1)["episode"], self.reset(2)["episode"]
        self.assertNotEqual(first, second)
        self.step(first, "9")
        clone = self.program.ask({"method": "clone", "episode": first})["episode"]
        self.assertEqual(self.step(first, "1")["final_state"]["guesses"], 2)
        self.assertEqual(self.step(clone, "5")["final_state"], {"answer": "5", "verdict": False, "guesses": 2})
        self.assertEqual(self.step(second, "2")["final_state"]["guesses"], 1)

    def test_an_exception_is_an_error_with_its_last_line(self):
        episode = self.reset(1)["episode"]
        self.assertEqual(self.step(episode, "bug"), {"error": "KeyError: 'bug' (mine.py:16)"})
        self.assertEqual(self.program.ask({"method": "reset", "task": {"id": "t"}, "seed": 1}),
                         {"error": "KeyError: 'number' (mine.py:8)"})
        self.assertTrue(self.step(episode, "1")["final_state"]["verdict"])  # it goes on


class Replies(ProgramTest):
    def step(self, returned, reset="None"):
        program = self.start(f"""
            import hone

            @hone.environment
            def make():
                class World:
                    def reset(self, task):
                        return {reset}

                    async def step(self, action):
                        return {returned}
                return World()

            hone.run()
        """, role="environment")
        self.opened = program.ask({"method": "reset", "task": {"id": "t"}, "seed": 1})
        return program.ask({"method": "step", "episode": self.opened["episode"], "turn": turn("a")})

    def test_nothing_and_a_text(self):
        self.assertEqual(self.step("None"), {"final_state": {"answer": "a"}})
        self.assertEqual(self.opened, {"episode": "1"})
        self.assertEqual(self.step("'well'"), {"user": "well", "final_state": {"answer": "a"}})

    def test_the_words_of_the_protocol_pass_through(self):
        self.assertEqual(self.step("{'ending': 'failed', 'blame': 'environment', 'final_state': {'verdict': 0.5}}"),
                         {"ending": "failed", "blame": "environment", "final_state": {"answer": "a", "verdict": 0.5}})

    def test_messages_and_tools_of_ones_own(self):
        self.step("None", reset="hone.Opening([{'role': 'system', 'content': 's'}], tools=[])")
        self.assertEqual(self.opened, {"episode": "1", "messages": [{"role": "system", "content": "s"}], "tools": []})

    def test_what_is_no_reply_is_an_error(self):
        self.assertIn("step returned a int", self.step("3")["error"])
        self.assertIn("from 0 to 1, and this is 7.0", self.step("{'reward': 7}")["error"])


if __name__ == "__main__":
    unittest.main()
