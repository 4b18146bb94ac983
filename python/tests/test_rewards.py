import unittest

from support import ProgramTest


def tree(*answers, calls=()):
    """A group: one leaf per answer, each with the calls before it."""
    nodes = [{"author": "user", "tokens": [1, 2]}]
    leaves = []
    for answer in answers:
        parent = 0
        for name, content in calls:
            nodes.append({"parent": parent, "author": "policy", "tokens": [3, 4, 5],
                          "calls": [{"name": name, "arguments": {"n": 1}, "span": [0, 2]}]})
            nodes.append({"parent": len(nodes) - 1, "author": "tool", "tokens": [6],
                          "results": [{"call": 0, "content": content}]})
            parent = len(nodes) - 1
        nodes.append({"parent": parent, "author": "policy", "tokens": [7, 8]})
        leaves.append({"node": len(nodes) - 1, "ending": "answered", "final_state": {"answer": answer}})
    task = {"id": "t1", "messages": [{"role": "user", "content": "Capital?"}], "answer": "Paris",
            "reward": {"calls": [{"name": "find", "arguments": {}}]}, "metadata": {"level": 2}}
    return {"format": "hone.tree", "version": 1, "task": task, "nodes": nodes, "leaves": leaves}


class Rewards(ProgramTest):
    def scores(self, source, record, **more):
        program = self.start("import hone\n" + source + "\nhone.run()\n", role="reward")
        reply = program.ask({"request": 7, "step": 3, "term": "outcome", "tree": record, **more})
        self.assertEqual(reply["request"], 7)
        self.assertEqual([score["leaf"] for score in reply["scores"]], list(range(len(record["leaves"]))))
        return [score["terms"] for score in reply["scores"]]

    def test_a_bool_a_number_and_none_are_the_outcome(self):
        source = """
@hone.reward
def score(task, trajectory):
    print("said")
    return {"Paris": True, "Rome": 0.25}.get(trajectory.answer)
"""
        self.assertEqual(self.scores(source, tree("Paris", "Rome", "Oslo")),
                         [[{"name": "outcome", "value": value}] for value in (1.0, 0.25, None)])
        self.assertEqual(self.scores(source, tree("Paris"), term="mine"), [[{"name": "mine", "value": 1.0}]])

    def test_a_dict_names_terms(self):
        source = """
@hone.reward
def score(trajectory):
    return {"right": trajectory.answer == trajectory.task.answer, "turns": trajectory.turns,
            "tokens": trajectory.tokens, "step": trajectory.step, "level": trajectory.task.metadata["level"]}
"""
        terms = self.scores(source, tree("Paris", calls=[("find", "1")]))[0]
        self.assertEqual({term["name"]: term["value"] for term in terms},
                         {"right": 1, "turns": 2, "tokens": 5, "step": 3, "level": 2})

    def test_terms_stand_on_calls(self):
        source = """
@hone.reward
def score(task, trajectory):
    gold = [call["name"] for call in task.calls]
    return [hone.Term("call", call.value["n"] if call.name in gold else -1, call) for call in trajectory.calls]
"""
        self.assertEqual(self.scores(source, tree("Paris", calls=[("find", '{"n": 5}'), ("other", "x")]))[0],
                         [{"name": "call", "value": 5.0, "node": 1, "span": [0, 2]},
                          {"name": "call", "value": -1.0, "node": 3, "span": [0, 2]}])

    def test_several_rewards_are_terms_under_their_names(self):
        source = """
@hone.reward
def right(task, trajectory):
    return trajectory.answer == task.answer

@hone.reward(term="polite")
def words(trajectory):
    return 0.5

@hone.group_reward
def best(task, trajectories):
    longest = max(len(one.answer) for one in trajectories)
    return [len(one.answer) == longest for one in trajectories]
"""
        values = [{term["name"]: term["value"] for term in terms} for terms in self.scores(source, tree("Paris", "Rome"))]
        self.assertEqual(values, [{"right": 1, "polite": 0.5, "best": 1}, {"right": 0, "polite": 0.5, "best": 0}])

    def test_an_exception_is_a_fault_of_its_leaf_alone(self):
        source = """
@hone.reward
def score(task, trajectory):
    return {"Paris": 1.0}[trajectory.answer]
"""
        first, second = self.scores(source, tree("Paris", "Rome"))
        self.assertEqual(first, [{"name": "outcome", "value": 1.0}])
        self.assertEqual(second, [{"name": "outcome", "value": None,
                                   "fault": {"blame": "judge", "message": "KeyError: 'Rome' (mine.py:5)"}}])

    def test_what_is_no_reward_is_a_fault_that_says_so(self):
        terms = self.scores("@hone.reward\ndef score(trajectory): return 'good'\n", tree("Paris"))[0]
        self.assertIn("is a str", terms[0]["fault"]["message"])
        terms = self.scores("@hone.reward\ndef score(trajectory): return float('nan')\n", tree("Paris"))[0]
        self.assertIn("not a finite number", terms[0]["fault"]["message"])
        terms = self.scores("@hone.group_reward\ndef score(all): return [1]\n", tree("Paris", "Rome"))
        self.assertIn("1 rewards for 2", terms[1][0]["fault"]["message"])


if __name__ == "__main__":
    unittest.main()
