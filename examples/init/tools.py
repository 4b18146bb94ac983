"""The tools that the agent calls: plain functions with type hints and a docstring."""
import hone
import shop

LAMPS = {number: lamp for lamp, number in shop.IDS.items()}


@hone.tool
def find(lamp: str) -> dict:
    """The id of a lamp, by its name."""
    if lamp not in shop.IDS:
        raise hone.ToolError("there is no such lamp")
    return {"id": shop.IDS[lamp]}


@hone.tool
def price(id: str, town: str) -> dict:
    """What a lamp costs in a town, in euros."""
    return {"euros": look_up(shop.PRICES, id, town)}


@hone.tool
def stock(id: str, town: str) -> dict:
    """How many pieces of a lamp the shop in a town has."""
    return {"pieces": look_up(shop.STOCK, id, town)}


def look_up(table, id, town):
    if (LAMPS.get(id), town) not in table:
        raise hone.ToolError("there is no such id, or no shop in that town")  # the agent reads this
    return table[LAMPS[id], town]


hone.run()
