"""Conversations over invented tools: schemas, questions, calls, results and answers, made from words.

A tool is a verb, a noun and some parameters. One of twenty pairs of verb and noun is held out: its tools occur in no
row that is trained on.
"""
import hashlib
import json

from base_texts import CITIES, COLOURS, DAYS, NAMES, SYSTEMS, THINGS

NOUNS = ("order invoice ticket flight hotel room recipe song movie book article parcel meeting reminder note contact task project "
         "budget account payment loan policy claim patient prescription lesson course student grade exam library_card museum tour "
         "bus train ferry bicycle car parking_space garden plant tree pet vet_visit meal menu table restaurant playlist podcast "
         "photo album video stream channel message email thread calendar event holiday shift employee contract salary expense "
         "receipt coupon discount product warehouse shelf shipment supplier auction bid house apartment rent meter sensor alarm "
         "camera door light thermostat battery printer server backup database file folder password domain website form survey "
         "vote petition donation charity game score team match league stadium workout diet sleep_record step_count medicine "
         "allergy weather_station river_level tide moon_phase star planet satellite telescope map route landmark border visa "
         "passport currency stock bond fund tax licence permit fine court_case").split()
READ = {"get": "Gets", "find": "Finds", "list": "Lists", "search": "Searches", "check": "Checks", "lookup": "Looks up", "count": "Counts",
        "compare": "Compares", "track": "Tracks", "describe": "Describes"}
WRITE = {"create": "Creates", "book": "Books", "cancel": "Cancels", "update": "Updates", "delete": "Deletes", "send": "Sends",
         "schedule": "Schedules", "rename": "Renames", "rate": "Rates", "share": "Shares", "archive": "Archives", "open": "Opens"}
ASKING = {"get": "get", "find": "find", "list": "list", "search": "search for", "check": "check", "lookup": "look up", "count": "count",
          "compare": "compare", "track": "track", "describe": "describe"}


def word(rng):
    return "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randrange(2, 4)))


# Per kind of parameter: names it may have, its schema, a value, and how a request says it.
PARAMETERS = [
    (("city", "town", "location"), {"type": "string", "description": "name of a city"}, lambda r: r.choice(CITIES), "in {}"),
    (("person", "customer", "owner"), {"type": "string", "description": "name of a person"}, lambda r: r.choice(NAMES), "for {}"),
    (("id", "number", "reference"), {"type": "string", "description": "its identifier"},
     lambda r: f"{r.choice('ABCKRTW')}{r.randrange(100, 99999)}", "with the number {}"),
    (("date", "on", "day"), {"type": "string", "description": "a date, YYYY-MM-DD"},
     lambda r: f"20{r.randrange(20, 31)}-{r.randrange(1, 13):02}-{r.randrange(1, 29):02}", "on {}"),
    (("weekday",), {"type": "string", "enum": DAYS, "description": "day of the week"}, lambda r: r.choice(DAYS), "on {}"),
    (("time", "at"), {"type": "string", "description": "time, HH:MM"}, lambda r: f"{r.randrange(24):02}:{r.choice((0, 15, 30, 45)):02}", "at {}"),
    (("title", "name", "label"), {"type": "string", "description": "what it is called"},
     lambda r: f"{r.choice(COLOURS)} {r.choice(THINGS)}", "called \"{}\""),
    (("limit", "max_results", "count"), {"type": "integer", "description": "most results"}, lambda r: r.randrange(1, 50), "with at most {} results"),
    (("amount", "price", "max_price"), {"type": "number", "description": "in euros"}, lambda r: r.randrange(100, 50000) / 100, "for {} euros"),
    (("quantity", "people", "seats"), {"type": "integer", "minimum": 1, "description": "how many"}, lambda r: r.randrange(1, 20), "{} of them"),
    (("colour", "color"), {"type": "string", "enum": COLOURS, "description": "a colour"}, lambda r: r.choice(COLOURS), "in {}"),
    (("priority", "level"), {"type": "string", "enum": ["low", "normal", "high"], "description": "how urgent"},
     lambda r: r.choice(("low", "normal", "high")), "with {} priority"),
    (("format", "output"), {"type": "string", "enum": ["json", "csv", "text"], "description": "how it is written"},
     lambda r: r.choice(("json", "csv", "text")), "as {}"),
    (("urgent", "express"), {"type": "boolean", "description": "whether it is urgent"}, lambda r: True, "urgently"),
    (("include_archived", "all"), {"type": "boolean", "description": "also old ones"}, lambda r: True, "including archived ones"),
    (("tags", "keywords"), {"type": "array", "items": {"type": "string"}, "description": "words that describe it"},
     lambda r: r.sample(THINGS, r.randrange(1, 4)), "with the tags {}"),
    (("code", "token"), {"type": "string", "description": "a code word"}, word, "with the code {}"),
    (("email", "recipient"), {"type": "string", "description": "an address"}, lambda r: f"{r.choice(NAMES).lower()}@{word(r)}.test", "for {}"),
]
FIELDS = [("status", lambda r: r.choice(("open", "closed", "pending", "done", "late"))), ("city", lambda r: r.choice(CITIES)),
          ("total", lambda r: r.randrange(1, 999)), ("owner", lambda r: r.choice(NAMES)), ("price", lambda r: r.randrange(100, 99999) / 100),
          ("date", lambda r: f"20{r.randrange(20, 31)}-{r.randrange(1, 13):02}-{r.randrange(1, 29):02}"), ("colour", lambda r: r.choice(COLOURS)),
          ("code", word), ("count", lambda r: r.randrange(100)), ("place", lambda r: f"shelf {r.randrange(1, 90)}")]


def held_pair(verb, noun):
    return int(hashlib.sha256(f"tool {verb} {noun}".encode()).hexdigest()[:8], 16) % 20 == 0


class Tool:
    def __init__(self, rng, held):
        verbs = READ if rng.random() < 0.6 else WRITE
        while True:
            self.verb, self.noun = rng.choice(sorted(verbs)), rng.choice(NOUNS)
            if held_pair(self.verb, self.noun) == held:
                break
        self.reads, self.said = verbs is READ, self.noun.replace("_", " ")
        words = [self.verb, *self.noun.split("_")]
        self.name = rng.choice(["_".join(words), words[0] + "".join(w.title() for w in words[1:]), "_".join(words[1:] + words[:1])])
        self.parameters = []
        for names, schema, value, phrase in rng.sample(PARAMETERS, rng.randrange(1, 5)):
            name = rng.choice(names)
            if all(name != one[0] for one in self.parameters):
                self.parameters.append((name, schema, value, phrase, False))
        needed = rng.randrange(1, len(self.parameters) + 1)
        self.parameters = [(*one[:4], place < needed) for place, one in enumerate(self.parameters)]
        self.field, self.field_value = rng.choice(FIELDS)

    def schema(self):
        return {"type": "function", "function": {
            "name": self.name, "description": f"{(READ | WRITE)[self.verb]} a {self.said}" + (f" and says its {self.field}." if self.reads else "."),
            "parameters": {"type": "object", "properties": {name: schema for name, schema, *_ in self.parameters},
                           "required": [name for name, _, _, _, needed in self.parameters if needed]}}}

    def draw(self, rng):
        """Arguments, and the words that ask for them."""
        arguments, phrases = {}, []
        for name, _, value, phrase, needed in self.parameters:
            if not needed and rng.random() < 0.5:
                continue
            arguments[name] = value(rng)
            spoken = arguments[name]
            phrases.append(phrase.format(" and ".join(spoken) if isinstance(spoken, list) else spoken))
        return arguments, " ".join(phrases)

    def ask(self, rng, phrases):
        verb = ASKING.get(self.verb, self.verb)
        plain = [f"Please {verb} the {self.said} {phrases}.", f"Can you {verb} the {self.said} {phrases}?", f"{verb.capitalize()} the {self.said} {phrases}.",
                 f"I need you to {verb} a {self.said} {phrases}.", f"Would you {verb} the {self.said} {phrases}, please?"]
        if self.reads:
            plain += [f"What is the {self.field} of the {self.said} {phrases}?", f"Tell me the {self.field} of the {self.said} {phrases}."]
        return rng.choice(plain)

    def result(self, rng):
        if self.reads:
            return {self.noun: f"{rng.choice('XYZ')}{rng.randrange(1000)}", self.field: self.field_value(rng)}
        return {"ok": True, "id": f"{rng.choice('XYZ')}{rng.randrange(1000)}"}

    def answer(self, rng, result):
        if self.reads:
            return rng.choice([f"The {self.field} of the {self.said} is {result[self.field]}.", f"The {self.said} {result[self.noun]}: {self.field} {result[self.field]}."])
        return rng.choice([f"Done. The id is {result['id']}.", f"It is done; the {self.said} has the id {result['id']}."])


def call_turn(*calls):
    return {"role": "assistant", "content": "", "tool_calls": [
        {"type": "function", "function": {"name": name, "arguments": arguments}} for name, arguments in calls]}


def one_request(rng, tool, asked=None):
    """A question, a call, its result and the answer."""
    arguments, phrases = tool.draw(rng)
    result = tool.result(rng)
    return [{"role": "user", "content": asked or tool.ask(rng, phrases)}, call_turn((tool.name, arguments)),
            {"role": "tool", "content": json.dumps(result)}, {"role": "assistant", "content": tool.answer(rng, result)}]


def several_at_once(rng, tools):
    chosen = [tools[0], tools[0]] if len(tools) == 1 or rng.random() < 0.5 else tools[:2]
    drawn = [tool.draw(rng) for tool in chosen]
    asked = " ".join(tool.ask(rng, phrases) for tool, (_, phrases) in zip(chosen, drawn))
    results = [tool.result(rng) for tool in chosen]
    return [{"role": "user", "content": asked}, call_turn(*((tool.name, arguments) for tool, (arguments, _) in zip(chosen, drawn))),
            *({"role": "tool", "content": json.dumps(result)} for result in results),
            {"role": "assistant", "content": " ".join(tool.answer(rng, result) for tool, result in zip(chosen, results))}]


def refused(rng, tool):
    turns = one_request(rng, tool)
    problem = rng.choice(["not found", "not allowed", "the service is busy", "there is no such entry"])
    turns[2]["content"] = json.dumps({"error": problem})
    turns[3]["content"] = f"That did not work: {problem}."
    return turns


def nothing_fits(rng, others):
    missing = Tool(rng, False)
    while any(missing.noun == tool.noun for tool in others):
        missing = Tool(rng, False)
    return [{"role": "user", "content": missing.ask(rng, missing.draw(rng)[1])},
            {"role": "assistant", "content": rng.choice([f"None of my tools can {ASKING.get(missing.verb, missing.verb)} a {missing.said}.",
                                                         f"I cannot {ASKING.get(missing.verb, missing.verb)} a {missing.said} with the tools that I have."])}]


def not_said(rng, tool):
    needed = [name for name, _, _, _, is_needed in tool.parameters if is_needed]
    verb = ASKING.get(tool.verb, tool.verb)
    arguments, phrases = tool.draw(rng)
    turns = one_request(rng, tool, asked=f"Sure: {phrases}.")
    result = json.loads(turns[2]["content"])
    turns[1] = call_turn((tool.name, arguments))
    turns[3]["content"] = tool.answer(rng, result)
    return [{"role": "user", "content": f"Please {verb} a {tool.said}."},
            {"role": "assistant", "content": f"Please tell me the {', the '.join(n.replace('_', ' ') for n in needed)}."}, *turns]


def tools(rng, held=False):
    """One conversation. With `held`, all its tools are of pairs that are held out."""
    listed = []
    while len(listed) < rng.choice((1, 2, 2, 3, 4)):
        tool = Tool(rng, held)
        if all(tool.name != one.name and tool.noun != one.noun for one in listed):
            listed.append(tool)
    tool, kind = listed[0], rng.random()
    if kind < 0.5:
        turns = one_request(rng, tool)
    elif kind < 0.65:
        turns = several_at_once(rng, listed)
    elif kind < 0.8:
        turns = one_request(rng, tool) + one_request(rng, listed[-1])
    elif kind < 0.86:
        turns = refused(rng, tool)
    elif kind < 0.93:
        turns = nothing_fits(rng, listed)
    else:
        turns = not_said(rng, tool)
    schemas = [one.schema() for one in listed]
    rng.shuffle(schemas)
    row = {"messages": [{"role": "system", "content": rng.choice(SYSTEMS)}, *turns], "tools": schemas}
    return row, json.dumps(turns)


def description(rng):
    """A tool in prose."""
    tool = Tool(rng, False)
    schema = tool.schema()["function"]
    text = f"The tool {tool.name}. {schema['description']} "
    for name, said, _, _, needed in tool.parameters:
        text += f"Its parameter {name} is {'needed' if needed else 'optional'}: {said['description']} ({said['type']}). "
    arguments, phrases = tool.draw(rng)
    return {"text": f"{text}Example: \"{tool.ask(rng, phrases)}\" becomes {tool.name} {json.dumps(arguments)}."}, text
