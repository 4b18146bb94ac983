"""Generated text for the base model: arithmetic with steps, small skills, little worlds, dialogues.

Every function takes a random.Random and returns one row: {"text"} or {"messages"}. What is held out is told by what a
row asks (`held`): the same question is never in both parts.
"""
import datetime
import hashlib
import json

NAMES = ("Ada Ben Cora Dan Eva Finn Gina Hugo Ines Jon Kira Leo Mia Nils Olga Paul Quinn Rosa Sam Tara Udo Vera Wim Xenia Yara "
         "Zoe Amir Bela Chen Dora Emil Fatima Goran Hana Igor Jana Kofi Lena Marek Nora Omar Petra Rafi Selma Tomas").split()
CITIES = ("Oslo Lima Rome Cairo Delhi Paris Tokyo Accra Quito Bern Dublin Athens Lisbon Prague Vienna Madrid Nairobi Seoul Havana "
          "Kyoto Porto Riga Tunis Perth Boston Denver Geneva Lyon Milan Naples Osaka Turin").split()
ANIMALS = "cat dog fox owl bear wolf hare goat mouse horse duck crow frog deer seal crab bee hen pony lamb".split()
COLOURS = "red blue green black white yellow brown grey orange purple".split()
THINGS = ("lamp chair book cup key coin map bell rope hat box letter basket ladder clock drum kite mirror spoon bottle blanket "
          "candle shovel lantern button ring stone feather brush wheel").split()
FRUIT = "apples pears plums cherries lemons oranges grapes figs nuts eggs".split()
JOBS = "baker teacher farmer doctor sailor painter tailor miller gardener librarian carpenter pilot cook judge".split()
PLACES = "garden kitchen harbour market library forest tower barn school station bridge cellar attic meadow mill".split()
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
SYSTEMS = ["You are a helpful assistant.", "You answer briefly.", "You are a careful assistant.", "Answer the question.",
           "You help people with small tasks."]


def held(key):
    """One of fifty questions is held out."""
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) % 50 == 0


def chat(rng, *turns):
    """Turns of user and assistant, by turns."""
    messages = [{"role": "system", "content": rng.choice(SYSTEMS)}]
    for number, turn in enumerate(turns):
        messages.append({"role": "assistant" if number % 2 else "user", "content": turn})
    return {"messages": messages}


def number(rng):
    return rng.randrange(10 ** rng.choice((1, 2, 2, 3, 3, 4)))


def addition_steps(a, b):
    steps, carry, place = [], 0, 0
    x, y = str(a)[::-1], str(b)[::-1]
    while place < max(len(x), len(y)):
        p, q = int(x[place]) if place < len(x) else 0, int(y[place]) if place < len(y) else 0
        total = p + q + carry
        steps.append(f"{p} + {q}" + (f" + {carry}" if carry else "") + f" = {total}, write {total % 10}"
                     + (f", carry {total // 10}" if total > 9 else ""))
        carry, place = total // 10, place + 1
    if carry:
        steps.append(f"write {carry}")
    return "; ".join(steps)


def product_steps(a, b):
    parts = [(int(digit) * 10 ** place) for place, digit in enumerate(str(b)[::-1]) if digit != "0"]
    return "; ".join(f"{a} * {p} = {a * p}" for p in parts) + "; together " + " + ".join(str(a * p) for p in parts)


def arithmetic(rng):
    kind = rng.choice("+++---**/%<sw")
    a, b = number(rng), number(rng)
    if kind in "*":
        b = rng.randrange(100)
        a %= 1000
    if kind in "/%":
        b = rng.randrange(2, 20)
    names = {"+": "plus", "-": "minus", "*": "times"}
    if kind in names:
        value = {"+": a + b, "-": a - b, "*": a * b}[kind]
        asked = rng.choice([f"What is {a} {kind} {b}?", f"{a} {kind} {b} =", f"What is {a} {names[kind]} {b}?", f"Compute {a} {kind} {b}."])
        steps = addition_steps(a, b) if kind == "+" else product_steps(a, b) if kind == "*" and a and b else None
    elif kind == "/":
        a = a * b if rng.random() < 0.5 else a
        value = f"{a // b}" if a % b == 0 else f"{a // b} remainder {a % b}"
        asked, steps = f"Divide {a} by {b}.", f"{b} * {a // b} = {b * (a // b)}; {a} - {b * (a // b)} = {a % b}"
    elif kind == "%":
        value, asked, steps = a % b, f"What is the remainder of {a} divided by {b}?", f"{b} * {a // b} = {b * (a // b)}"
    elif kind == "<":
        value, asked, steps = max(a, b), f"Which is larger, {a} or {b}?", None
    elif kind == "s":
        c = number(rng)
        value, asked, steps = a + b + c, f"Add {a}, {b} and {c}.", f"{a} + {b} = {a + b}; {a + b} + {c} = {a + b + c}"
    else:
        who, what = rng.choice(NAMES), rng.choice(FRUIT)
        a, b = a % 200, b % 200
        value = a + b
        asked = f"{who} has {a} {what} and gets {b} more. How many {what} has {who} now?"
        steps = f"{a} + {b} = {a + b}"
    if steps and rng.random() < 0.4:
        return chat(rng, asked + " Show the steps.", f"{steps}. The answer is {value}."), f"{kind} {a} {b}"
    return chat(rng, asked, f"{value}"), f"{kind} {a} {b}"


def date_question(rng):
    day = datetime.date(1980, 1, 1) + datetime.timedelta(days=rng.randrange(25000))
    said = f"{day.day} {MONTHS[day.month - 1]} {day.year}"
    kind = rng.randrange(4)
    if kind == 0:
        return f"Write {said} as a number.", day.isoformat()
    if kind == 1:
        return f"Write {day.isoformat()} in words.", said
    if kind == 2:
        more = rng.randrange(1, 40)
        return f"Which date is {more} days after {day.isoformat()}?", (day + datetime.timedelta(days=more)).isoformat()
    hour, minute, more = rng.randrange(24), rng.randrange(60), rng.randrange(5, 180)
    later = (hour * 60 + minute + more) % 1440
    return f"It is {hour:02}:{minute:02}. What time is it in {more} minutes?", f"{later // 60:02}:{later % 60:02}"


def unit_question(rng):
    big, small, factor = rng.choice([("km", "m", 1000), ("m", "cm", 100), ("kg", "g", 1000), ("hours", "minutes", 60), ("minutes", "seconds", 60),
                                     ("weeks", "days", 7), ("litres", "millilitres", 1000), ("dozen", "pieces", 12), ("days", "hours", 24)])
    count = rng.randrange(1, 300)
    if rng.random() < 0.5:
        return f"How many {small} are {count} {big}?", f"{count * factor} {small}"
    return f"How many {big} are {count * factor} {small}?", f"{count} {big}"


def list_question(rng):
    words = rng.sample(THINGS + ANIMALS + COLOURS, rng.randrange(3, 9))
    listed = ", ".join(words)
    numbers = [rng.randrange(500) for _ in range(rng.randrange(3, 9))]
    counted = ", ".join(map(str, numbers))
    return rng.choice([
        lambda: (f"Sort these words: {listed}.", ", ".join(sorted(words))),
        lambda: (f"Sort these numbers: {counted}.", ", ".join(map(str, sorted(numbers)))),
        lambda: (f"Sort these numbers, largest first: {counted}.", ", ".join(map(str, sorted(numbers, reverse=True)))),
        lambda: (f"Which of these is the largest: {counted}?", str(max(numbers))),
        lambda: (f"How many words are there: {listed}?", str(len(words))),
        lambda: (f"What is the last word of: {listed}?", words[-1]),
        lambda: (f"What comes after {words[0]} in: {listed}?", words[1]),
        lambda: (f"Write this list backwards: {listed}.", ", ".join(words[::-1])),
        lambda: (f"Repeat: {listed}.", listed),
        lambda: (f"Take {words[1]} out of: {listed}.", ", ".join(words[:1] + words[2:])),
        lambda: (f"Write in capitals: {' '.join(words)}.", " ".join(words).upper()),
    ])()


def record(rng):
    return {"name": rng.choice(NAMES), "city": rng.choice(CITIES), "age": rng.randrange(18, 90), "job": rng.choice(JOBS),
            "likes": rng.sample(THINGS, rng.randrange(1, 4)), "member": rng.random() < 0.5, "balance": rng.randrange(10000) / 100}


def json_question(rng):
    whole = record(rng)
    keys = rng.sample(sorted(whole), rng.randrange(2, 6))
    data = {key: whole[key] for key in keys}
    text, key = json.dumps(data), rng.choice(keys)
    value = data[key] if isinstance(data[key], str) else json.dumps(data[key])
    told = ", ".join(f"{k}: {v if isinstance(v, str) else json.dumps(v)}" for k, v in data.items())
    rows = [record(rng) for _ in range(rng.randrange(2, 5))]
    table = json.dumps([{"name": r["name"], "age": r["age"]} for r in rows])
    return rng.choice([
        (f"What is the {key} in {text}?", value),
        (f"Write as JSON: {told}", text),
        (f"Which keys has {text}?", ", ".join(data)),
        (f"Say in plain words: {text}", told),
        (f"Who is the oldest in {table}?", max(rows, key=lambda r: r["age"])["name"]),
        (f"Change {key} to null in {text}.", json.dumps({**data, key: None})),
    ])


def skills(rng):
    asked, answer = rng.choice([date_question, unit_question, list_question, json_question])(rng)
    return chat(rng, asked, answer), asked


def little_world(rng):
    """Some facts as prose, then questions about them."""
    people = rng.sample(NAMES, rng.randrange(2, 5))
    facts, asks = [], []
    for who in people:
        job, city, thing, colour, place = (rng.choice(x) for x in (JOBS, CITIES, THINGS, COLOURS, PLACES))
        animal, age = rng.choice(ANIMALS), rng.randrange(20, 80)
        options = [
            (f"{who} is a {job} from {city}.", [(f"What is {who}'s job?", job), (f"Where does {who} come from?", city)]),
            (f"{who} keeps a {colour} {thing} in the {place}.", [(f"Where is {who}'s {thing}?", f"in the {place}"), (f"Which colour is {who}'s {thing}?", colour)]),
            (f"{who} has a {animal}, and is {age} years old.", [(f"How old is {who}?", str(age)), (f"Which animal has {who}?", f"a {animal}")]),
            (f"Every {rng.choice(DAYS)} {who} walks from the {place} to the {rng.choice(PLACES)} with the {animal}.", [(f"Who walks with the {animal}?", who)]),
        ]
        for fact, questions in rng.sample(options, rng.randrange(1, 4)):
            facts.append(fact)
            asks += questions
    rng.shuffle(facts)
    told = " ".join(facts)
    asks = rng.sample(asks, min(len(asks), rng.randrange(1, 4)))
    if rng.random() < 0.3:
        asks.append((f"What is the name of {rng.choice(people)}'s ship?", "That is not said."))
    turns = []
    for number_of, (ask, answer) in enumerate(asks):
        turns += [told + " " + ask if number_of == 0 else ask, answer]
    return chat(rng, *turns), told


def story(rng):
    who, friend = rng.sample(NAMES, 2)
    job, place, other, thing, animal, colour, city, day = (rng.choice(x) for x in (
        JOBS, PLACES, PLACES, THINGS, ANIMALS, COLOURS, CITIES, DAYS))
    lines = [
        rng.choice([f"Once there was a {job} named {who}, who lived near the {place} in {city}.", f"{who} was a {job} in {city}.",
                    f"In {city} there lived a {job}. Everybody called this {job} {who}."]),
        rng.choice([f"One {day} {who} lost a {colour} {thing}.", f"One {day} somebody left a {colour} {thing} at the {place}.",
                    f"On a cold {day} morning {who} found a {colour} {thing} in the {place}."]),
        rng.choice([f"\"Whose {thing} is this?\" asked {friend}.", f"{friend} said: \"I saw a {animal} with a {thing} by the {other}.\"",
                    f"\"We should look in the {other},\" said {friend}."]),
        rng.choice([f"So they went to the {other} and looked behind every {rng.choice(THINGS)}.", f"They asked the {animal}, but a {animal} does not talk.",
                    f"It rained all day, and still they went to the {other}."]),
        rng.choice([f"At last they saw the {animal}. It sat on the {thing} and was very proud.", f"There was the {thing}, beside a small {colour} {rng.choice(THINGS)}.",
                    f"The {animal} had carried it there, because it was {colour} and shone in the sun."]),
        rng.choice([f"{who} laughed and gave {friend} some {rng.choice(FRUIT)}.", f"From then on the {thing} stayed in the {place}.",
                    f"{who} thanked the {animal}, and they all went home.", f"\"Next time,\" said {friend}, \"we ask the {animal} first.\""]),
    ]
    if rng.random() < 0.4:
        lines.insert(2, f"{who} was {rng.choice(['sad', 'glad', 'curious', 'afraid', 'angry'])}, for {rng.choice(['it was a present', 'nobody knew why', 'the day was short'])}.")
    text = " ".join(lines)
    if rng.random() < 0.4:
        return chat(rng, f"Tell a story about a {job} and a {animal}.", text), text
    return {"text": text}, text


def dialogue(rng):
    who, friend = rng.sample(NAMES, 2)
    thing, place, hour = rng.choice(THINGS), rng.choice(PLACES), rng.randrange(1, 12)
    opening = rng.choice(["Hello", "Good morning", "Hi", "Good evening"])
    return chat(rng, f"{opening}, my name is {who}.", rng.choice([f"{opening}, {who}. How can I help you?", f"Hello {who}, what can I do for you?"]),
                rng.choice([f"What is my name?", "Do you remember who I am?"]), f"Your name is {who}.",
                f"I left my {thing} in the {place}, and {friend} comes at {hour}. Please remind me.",
                f"Your {thing} is in the {place}, and {friend} comes at {hour}.",
                rng.choice([f"When does {friend} come?", f"Who comes at {hour}?", f"Where is my {thing}?"]), ""), f"{who} {friend} {thing} {place} {hour}"


def stories(rng):
    kind = rng.random()
    if kind < 0.5:
        return little_world(rng)
    if kind < 0.8:
        return story(rng)
    row, key = dialogue(rng)
    messages = row["messages"]
    asked, told = messages[-2]["content"], messages[-4]["content"] + messages[-3]["content"]
    friend, hour = told.split(" comes at ")[0].split()[-1], told.split(" comes at ")[1].split(".")[0]
    thing = messages[-3]["content"].split(" is in ")[0].removeprefix("Your ")
    place = messages[-3]["content"].split(" is in the ")[1].split(",")[0]
    messages[-1]["content"] = f"At {hour}." if asked.startswith("When") else friend if asked.startswith("Who") else f"Your {thing} is in the {place}."
    return row, key
