import json
import pathlib
import sqlite3
import tempfile
import unittest

import hone


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "mine"
        self.folder.mkdir()
        (self.folder / "recipe.toml").write_text("[run]\nname = 'mine'\n")

    def test_metrics_are_read_up_to_a_line_that_is_being_written(self):
        lines = [{"step": 0, "success": 0.25}, {"step": 1, "success": None}, {"step": 2, "success": 0.5, "reward/mean": 1}]
        (self.folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"step": 3, "su')
        run = hone.Run(self.folder)
        self.assertEqual(run.metrics(), lines)
        self.assertEqual(run.metric("success"), [(0, 0.25), (2, 0.5)])
        with self.assertRaisesRegex(hone.HoneError, "no metric 'rewards/mean'; it has reward/mean"):
            run.metric("rewards/mean")
        self.assertEqual((run.name, run.result, "name" in run.recipe), ("mine", None, True))

    def test_the_list_of_trees_comes_from_the_store(self):
        with sqlite3.connect(self.folder / "store.sqlite") as store:
            store.execute("CREATE TABLE trees (id, step, task, nodes, leaves, tokens, record, arrays)")
            store.execute("CREATE TABLE scores (tree, mean_reward, terms)")
            store.execute("INSERT INTO trees VALUES (1, 0, 'a', 5, 2, 40, '', ''), (2, 3, 'b', 6, 2, 50, '', '')")
            store.execute("INSERT INTO scores VALUES (2, 0.5, '')")
        run = hone.Run(self.folder)
        self.assertEqual([(tree["id"], tree["mean_reward"]) for tree in run.trees()], [(1, None), (2, 0.5)])
        self.assertEqual([tree["id"] for tree in run.trees(step=3)], [2])
        self.assertEqual(run.trees(step=3, task="a"), [])

    def test_a_folder_that_is_no_run_says_so(self):
        with self.assertRaisesRegex(hone.HoneError, "is no run's folder: it has no recipe.toml"):
            hone.Run(self.folder / "nothing")


if __name__ == "__main__":
    unittest.main()
