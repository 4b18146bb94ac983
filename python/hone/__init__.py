"""Tools, rewards and environments for Hone in Python, and a client for its runs.

    import hone

    @hone.tool
    def stock(item: str, shop: str = "main") -> dict:
        '''How many pieces of an item a shop has.

        item: the item's name
        '''
        return {"item": item, "pieces": 3}

    hone.run()

Hone starts such a file as `command = ["python3", "stock.py"]`; docs/python.md has the whole story.
"""
from .environments import Action, Opening, environment
from .rewards import Call, Task, Term, Trajectory, group_reward, reward
from .runs import HoneError, Run
from .toolkit import Retry, Session, ToolError, reset, tool, tools
from .worker import run

__all__ = [
    "Action", "Call", "HoneError", "Opening", "Retry", "Run", "Session", "Task", "Term", "ToolError",
    "Trajectory", "environment", "group_reward", "reset", "reward", "run", "tool", "tools",
]
__version__ = "0.1.0"
