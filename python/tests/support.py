"""What the tests share: a program that is talked to as Hone does it."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

PACKAGE = str(pathlib.Path(__file__).resolve().parent.parent)


class Program:
    """A file of the user's, started as Hone starts it."""

    def __init__(self, test, source, role):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "mine.py"
        self.path.write_text(textwrap.dedent(source))
        self.errors = open(pathlib.Path(folder.name) / "errors", "w+")
        environment = {**os.environ, "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("HONE_ROLE", None)
        if role:
            environment["HONE_ROLE"] = role
        self.process = subprocess.Popen([sys.executable, str(self.path)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, env=environment)
        test.addCleanup(self.close)

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        assert line, "the program said nothing: " + self.said()
        return json.loads(line)

    def ask(self, message):
        self.send(message)
        return self.read()

    def said(self):
        """What it wrote to standard error."""
        self.errors.seek(0)
        return self.errors.read()

    def close(self):
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()
        self.errors.close()


class ProgramTest(unittest.TestCase):
    def start(self, source, role=""):
        return Program(self, source, role)
