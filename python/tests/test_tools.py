import unittest

from support import ProgramTest

SHOP = """
    import os, subprocess
    import hone

    print("said before anything else")

    @hone.tool
    def stock(item: str, shop: str = "main") -> dict:
        '''How many pieces of an item a shop has.

        item: the item's name
        '''
        print("said by a tool")
        os.write(1, b"said by C\\n")
        subprocess.run(["echo", "said by a child"])
        if item == "gold":
            raise hone.ToolError("we have no gold", status="denied")
        if item == "busy":
            raise hone.Retry("come back", after_ms=250)
        if item == "bug":
            return {}["pieces"]
        if item == "nan":
            return {"pieces": float("nan")}
        if item == "odd":
            return object()
        return {"item": item, "shop": shop}

    @hone.tool(name="twice", effect="pure", computable=True)
    async def double(number: float) -> float:
        return 2 * number

    hone.run()
"""


class Tools(ProgramTest):
    def test_the_program_announces_what_the_functions_say(self):
        program = self.start(SHOP, role="tools")
        self.assertEqual(program.read(), {"tools": [
            {"name": "stock", "description": "How many pieces of an item a shop has.",
             "parameters": {"type": "object",
                            "properties": {"item": {"type": "string", "description": "the item's name"},
                                           "shop": {"type": "string", "default": "main"}},
                            "required": ["item"], "additionalProperties": False},
             "x-hone": {"output": {"type": "object"}}},
            {"name": "twice", "description": "",
             "parameters": {"type": "object", "properties": {"number": {"type": "number"}},
                            "required": ["number"], "additionalProperties": False},
             "x-hone": {"effect": "pure", "computable": True, "output": {"type": "number"}}}]})

    def test_what_is_printed_never_reaches_the_protocol(self):
        program = self.start(SHOP, role="tools")
        self.assertIn("tools", program.read())
        reply = program.ask({"id": 1, "tool": "stock", "arguments": {"item": "lamp"}})
        self.assertEqual(reply, {"id": 1, "result": {"item": "lamp", "shop": "main"}})
        for part in ("before anything else", "by a tool", "by C", "by a child"):
            self.assertIn("said " + part, program.said())

    def test_failures_are_typed(self):
        program = self.start(SHOP, role="tools")
        program.read()

        def call(item):
            return program.ask({"id": 5, "tool": "stock", "arguments": {"item": item}})

        self.assertEqual(call("gold"), {"id": 5, "error": "we have no gold", "status": "denied"})
        self.assertEqual(call("busy"), {"id": 5, "error": "come back", "retry": True, "retry_after_ms": 250})
        self.assertEqual(call("bug"), {"id": 5, "error": "KeyError: 'pieces' (mine.py:21)", "status": "unavailable"})
        self.assertIn("Traceback", program.said())
        for item, said in (("nan", "not JSON compliant"), ("odd", "a object is no JSON")):
            reply = call(item)
            self.assertEqual(reply["status"], "unavailable")
            self.assertIn(said, reply["error"])
        self.assertEqual(call("lamp")["result"]["item"], "lamp")  # it goes on

    def test_coroutines_are_run(self):
        program = self.start(SHOP, role="tools")
        program.read()
        self.assertEqual(program.ask({"id": 2, "tool": "twice", "arguments": {"number": 4}}), {"id": 2, "result": 8})


BASKET = """
    import hone

    @hone.tools
    class Basket:
        def __init__(self, session):
            self.things, self.draw = [], session.random.random()

        @hone.tool
        def add(self, thing: str) -> list:
            "Puts a thing into the basket."
            self.things.append(thing)
            return self.things

        @hone.tool
        def luck(self) -> float:
            return self.draw

        def not_a_tool(self):
            pass

    @hone.tool
    def count(session: hone.Session, by: int = 1) -> int:
        session.count = session.get("count", 0) + by
        return session.count

    hone.run()
"""


class Sessions(ProgramTest):
    def setUp(self):
        self.program = self.start(BASKET, role="tools")
        self.announced = self.program.read()

    def call(self, tool, episode, seed="7", **arguments):
        reply = self.program.ask({"id": 1, "tool": tool, "arguments": arguments, "session": seed, "episode": episode})
        return reply["result"]

    def test_state_makes_the_program_announce_sessions(self):
        self.assertEqual(self.announced["sessions"], "many")
        names = [tool["name"] for tool in self.announced["tools"]]
        self.assertEqual(names, ["add", "luck", "count"])
        for tool in self.announced["tools"]:
            self.assertEqual(tool["x-hone"]["resource"], "session")
            self.assertNotIn("session", tool["parameters"]["properties"])
            self.assertNotIn("self", tool["parameters"]["properties"])

    def test_every_session_has_an_object_of_its_own(self):
        self.assertEqual(self.call("add", "1", thing="pen"), ["pen"])
        self.assertEqual(self.call("add", "2", thing="ink"), ["ink"])
        self.assertEqual(self.call("add", "1", thing="cup"), ["pen", "cup"])
        self.assertEqual([self.call("count", "1"), self.call("count", "1", by=5), self.call("count", "2")], [1, 6, 1])

    def test_a_session_that_was_closed_is_forgotten(self):
        self.call("add", "1", thing="pen")
        self.program.send({"method": "close", "episode": "1"})
        self.assertEqual(self.call("add", "1", thing="cup"), ["cup"])

    def test_the_seed_decides_what_is_random(self):
        self.assertEqual(self.call("luck", "1", seed="3"), self.call("luck", "2", seed="3"))
        self.assertNotEqual(self.call("luck", "3", seed="4"), self.call("luck", "2", seed="3"))


class Resets(ProgramTest):
    def test_the_hook_is_announced_and_called_with_the_seed(self):
        program = self.start("""
            import hone

            world = {"seed": None, "count": 0}

            @hone.reset
            def fresh(seed):
                if seed == 13:
                    raise OSError("no luck")
                world.update(seed=seed, count=0)

            @hone.tool
            def count() -> dict:
                world["count"] += 1
                return world

            hone.run()
        """, role="tools")
        self.assertEqual(program.read()["reset"], True)
        call = {"id": 2, "tool": "count", "arguments": {}}
        self.assertEqual(program.ask({"id": 1, "method": "reset", "session": "7"}), {"id": 1, "result": None})
        self.assertEqual(program.ask(call)["result"], {"seed": 7, "count": 1})
        self.assertEqual(program.ask(call)["result"], {"seed": 7, "count": 2})
        program.ask({"id": 3, "method": "reset", "session": "8"})
        self.assertEqual(program.ask(call)["result"], {"seed": 8, "count": 1})
        self.assertEqual(program.ask({"id": 4, "method": "reset", "session": "13"}),
                         {"id": 4, "error": "OSError: no luck (mine.py:9)", "status": "unavailable"})


class ByHand(ProgramTest):
    def test_without_hone_the_file_says_what_it_is(self):
        program = self.start("import hone\n@hone.tool\ndef f() -> int:\n    print('x')\n    return 1\nhone.run()\n")
        self.assertEqual(program.read()["tools"][0]["name"], "f")
        self.assertEqual(program.ask({"id": 1, "tool": "f", "arguments": {}}), {"id": 1, "result": 1})


class Mistakes(ProgramTest):
    def ends_with(self, source, part, role=""):
        program = self.start(source, role)
        self.assertNotEqual(program.process.wait(20), 0)
        self.assertIn(part, program.said())

    def test_a_file_that_defines_nothing_says_so(self):
        self.ends_with("import hone\nhone.run()\n", "the file defines nothing; put @hone.tool")

    def test_a_file_that_is_used_for_what_it_is_not_says_so(self):
        self.ends_with("import hone\n@hone.tool\ndef f(): pass\nhone.run()\n",
                       "mine.py as reward, and it has no @hone.reward", role="reward")

    def test_two_tools_of_one_name_are_refused(self):
        self.ends_with("import hone\n@hone.tool\ndef f(): pass\n@hone.tool(name='f')\ndef g(): pass\n",
                       "there are two tools 'f'")

    def test_an_unknown_option_names_the_known_ones(self):
        self.ends_with("import hone\n@hone.tool(effects='pure')\ndef f(): pass\n",
                       "no option 'effects'; it has name, description")


if __name__ == "__main__":
    unittest.main()
