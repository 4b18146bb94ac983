"""A tool of one's own: a little shop. One JSON line per call in, one out (docs/howto/add-a-tool.md)."""
import json, sys

GOODS = """Lamp Chair Desk Shelf Sofa Clock Rug Vase Bed Stool Mirror Bench Stove Kettle Plate Bowl Spoon Fork
Knife Pan Pot Tray Basket Broom Bucket Candle Curtain Cushion Drawer Fan Frame Heater Hook Ladder
Lock Mat Pillow Rack Towel Tub""".split()
TOWNS = "Bergen Cork Delft Espoo Ghent Lille Malmo Porto Siena Turin".split()
IDS = {name: f"G{10 + 37 * place % 89}" for place, name in enumerate(GOODS)}


def tool(name, about, takes, gives):
    schema = lambda members: {"type": "object", "properties": members, "required": list(members)}
    # What a tool gives is what a simulator goes by.
    return {"name": name, "description": about, "parameters": schema(takes),
            "x-hone": {"effect": "reads", "output": schema(gives)}}


TEXT = {"type": "string"}
ID = {"type": "string", "pattern": "^G[1-9][0-9]$"}
COUNT = {"type": "integer", "minimum": 10, "maximum": 99}
print(json.dumps({"tools": [
    tool("find", "The number of a thing by its name.", {"name": TEXT}, {"id": ID}),
    tool("look", "Price and stock of a thing in a town.", {"id": TEXT, "town": TEXT}, {"price": COUNT, "stock": COUNT}),
]}), flush=True)

for line in sys.stdin:
    call = json.loads(line)
    given, reply = call["arguments"], {"id": call["id"]}
    place = [place for place, name in enumerate(GOODS) if name == given.get("name") or IDS[name] == given.get("id")]
    if not place or given.get("town", TOWNS[0]) not in TOWNS:
        reply["error"] = "there is no such thing"  # the agent reads it
    elif call["tool"] == "find":
        reply["result"] = {"id": IDS[GOODS[place[0]]]}
    else:
        number = place[0] * len(TOWNS) + TOWNS.index(given["town"])
        reply["result"] = {"price": 10 + 59 * number % 90, "stock": 10 + 73 * number % 89}
    print(json.dumps(reply), flush=True)
