"""Writes the tasks (train.jsonl, dev.jsonl, test.jsonl) and conversations.jsonl.

The conversations are the log of an assistant with bad habits: it guesses, it looks in the wrong shop, and one time
in four it is right. Nothing in them is about the tasks of dev and test.
"""
import json, random
import shop

ASKS = {"price": ["What does the {lamp} cost in {town}?", "How much is the {lamp} in {town}?",
                  "Price of the {lamp} in {town}, please."],
        "stock": ["How many {lamp} are there in {town}?", "Is the {lamp} in stock in {town}, and how many?",
                  "Pieces of the {lamp} in {town}, please."]}
FACTS = {"price": ("euros", shop.PRICES), "stock": ("pieces", shop.STOCK)}


def compact(value):
    """JSON without blanks: what a tool says looks as it will when Hone asks it."""
    return json.dumps(value, separators=(",", ":"))


def task(name, question, rng):
    kind, lamp, town = question
    return {"id": name, "prompt": rng.choice(ASKS[kind]).format(lamp=lamp, town=town),
            "answer": str(FACTS[kind][1][lamp, town]), "metadata": {"kind": kind}}


def conversation(question, rng):
    """One of the log: what the user asked, what the assistant did, what it said."""
    kind, lamp, town = question
    messages = [{"role": "user", "content": rng.choice(ASKS[kind]).format(lamp=lamp, town=town)}]

    def call(name, arguments, result):
        number = f"call_{len(messages)}"
        function = {"name": name, "arguments": compact(arguments)}
        messages.append({"role": "assistant", "content": None,
                         "tool_calls": [{"id": number, "type": "function", "function": function}]})
        messages.append({"role": "tool", "tool_call_id": number, "content": compact(result)})

    def answer(text):
        messages.append({"role": "assistant", "content": text})
        return {"messages": messages}

    unit, table = FACTS[kind]
    habit = rng.random()
    if habit < 0.4:  # says something
        return answer(str(rng.randrange(10, 100)))
    call("find", {"lamp": lamp}, {"id": shop.IDS[lamp]})
    where = town if habit >= 0.75 else shop.MAIN  # where it always looks
    call(kind, {"id": shop.IDS[lamp], "town": where}, {unit: table[lamp, where]})
    return answer(str(table[lamp, where]))


def write(name, rows):
    with open(name, "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    print(f"{name}: {len(rows)} rows")


rng = random.Random(7)
asked = [(kind, lamp, town) for kind in ASKS for lamp in shop.LAMPS for town in shop.TOWNS]
rng.shuffle(asked)
elsewhere = [question for question in asked if question[2] != shop.MAIN]  # the log gives the main shop away
test, dev, train = elsewhere[:140], elsewhere[140:200], elsewhere[200:440]
for name, part in (("train", train), ("dev", dev), ("test", test)):
    write(f"{name}.jsonl", [task(f"{name}-{i}", question, rng) for i, question in enumerate(part)])
write("conversations.jsonl", [conversation(rng.choice(train), rng) for _ in range(2000)])
