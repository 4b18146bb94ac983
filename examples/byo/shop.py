"""A tool of one's own: a little shop. One JSON line per call in, one out (docs/howto/add-a-tool.md)."""
import json, sys

GOODS = {"lamp": ("G1", 30, 4), "chair": ("G2", 55, 9), "desk": ("G3", 140, 2), "shelf": ("G4", 80, 6),
         "sofa": ("G5", 420, 1), "clock": ("G6", 25, 7), "rug": ("G7", 95, 3), "vase": ("G8", 18, 8)}


def tool(name, about, takes, gives):
    schema = lambda members: {"type": "object", "properties": members, "required": list(members)}
    # What a tool gives is what a simulator goes by.
    return {"name": name, "description": about, "parameters": schema(takes),
            "x-hone": {"effect": "reads", "output": schema(gives)}}


ID = {"type": "string", "pattern": "^G[1-8]$"}
COUNT = {"type": "integer", "minimum": 1, "maximum": 500}
print(json.dumps({"tools": [
    tool("find", "The number of a thing by its name.", {"name": {"type": "string"}}, {"id": ID}),
    tool("look", "Price and stock of a thing.", {"id": {"type": "string"}}, {"price": COUNT, "stock": COUNT}),
]}), flush=True)

for line in sys.stdin:
    call = json.loads(line)
    given, reply = call["arguments"], {"id": call["id"]}
    found = [row for name, row in GOODS.items() if given.get("name") == name or given.get("id") == row[0]]
    if not found:
        reply["error"] = "there is no such thing"  # the agent reads it
    elif call["tool"] == "find":
        reply["result"] = {"id": found[0][0]}
    else:
        reply["result"] = {"price": found[0][1], "stock": found[0][2]}
    print(json.dumps(reply), flush=True)
