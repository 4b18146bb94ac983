#include "envs/desk/desk_tools.h"

#include <cmath>

#include "tools/builtin/calculator.h"
#include "tools/sessions.h"

namespace hone::desk {
namespace {

Json Text(std::string_view about) { return Json::Of({{"type", "string"}, {"description", about}}); }
Json Integer(std::string_view about) {
  return Json::Of({{"type", "integer"}, {"description", about}});
}
Json Between(int64_t least, int64_t most) {
  return Json::Of({{"type", "integer"}, {"minimum", least}, {"maximum", most}});
}
Json OneOf(std::span<const std::string_view> words) {
  return Json::Of({{"type", "string"}, {"enum", Json::ArrayOf(words)}});
}

// An object that has all of these members and no others.
Json Exactly(Json::Object properties) {
  Json::Array names;
  for (const auto& [name, schema] : properties) names.emplace_back(name);
  return Json::Of({{"type", "object"},
                   {"properties", std::move(properties)},
                   {"required", std::move(names)},
                   {"additionalProperties", false}});
}

Json KnownValues() {
  Json::Array values;
  for (size_t topic = 0; topic < Topics().size(); ++topic) {
    for (const std::string_view value : TopicValues(topic)) values.emplace_back(value);
  }
  return Json::Of({{"type", "string"}, {"enum", std::move(values)}});
}

ToolSpec Reads(std::string name, std::string about, Json parameters, Json output) {
  ToolSpec spec;
  spec.name = name;
  spec.description = std::move(about);
  spec.parameters = std::move(parameters);
  spec.output = std::move(output);
  spec.effect = Effect::kReads;
  spec.resource = std::move(name);  // not the outbox: what was sent changes no answer
  return spec;
}

ToolSpec Pure(std::string name, std::string about, Json parameters, Json output) {
  ToolSpec spec =
      Reads(std::move(name), std::move(about), std::move(parameters), std::move(output));
  spec.effect = Effect::kPure;
  spec.computable = true;
  return spec;
}

ToolSpec Send() {
  ToolSpec spec = Reads("send", "Sends a text to a person. It cannot be taken back.",
                        Exactly({{"to", Text("a person's name")}, {"text", Text("what to send")}}),
                        Exactly({{"ok", Json::Of({{"type", "boolean"}, {"const", true}})}}));
  spec.effect = Effect::kIrreversible;
  spec.resource = "outbox";
  return spec;
}

std::vector<ToolSpec> Specs() {
  const Json phone = Json::Of({{"type", "string"}, {"pattern", "^[1-9][0-9]{3}$"}});
  const Json whole = Json::Of({{"type", "integer"}});
  return {
      Reads("weather", "The sky and the temperature of a city on a day.",
            Exactly({{"city", Text("a city")}, {"day", Text("Mon to Sun")}}),
            Exactly({{"sky", OneOf(Skies())}, {"temp", Between(10, 39)}})),
      Reads("contact", "Where a person lives, and the phone number.",
            Exactly({{"name", Text("a person's name")}}),
            Exactly({{"city", OneOf(Cities())}, {"phone", phone}})),
      Reads("schedule", "What a person does on a day, and at what hour.",
            Exactly({{"name", Text("a person's name")}, {"day", Text("Mon to Sun")}}),
            Exactly({{"event", OneOf(Events())}, {"hour", Between(8, 20)}})),
      Reads("clock", "What hour it is in a city.", Exactly({{"city", Text("a city")}}),
            Exactly({{"hour", Between(0, 23)}})),
      Reads("search", "What is known of a city.",
            Exactly({{"query", Text("a topic (currency, language, river, dish) and a city")}}),
            Exactly({{"text", KnownValues()}})),
      Pure("calculator", "Exact arithmetic with + - *.",
           Exactly({{"expression", Text("such as 12+7*3")}}), Exactly({{"result", whole}})),
      Pure("convert", "Converts an amount: km mi, kg lb, usd eur; rounded down.",
           Exactly({{"amount", Integer("how much")},
                    {"from", Text("its unit")},
                    {"to", Text("the unit wanted")}}),
           Exactly({{"amount", whole}})),
      Send(),
  };
}

Error NotFound() { return Error(ErrorCode::kNotFound, "not found"); }

struct DeskSession final : Session {
  explicit DeskSession(uint64_t seed) : world(seed) {}

  Result<std::unique_ptr<Session>> Clone() override {
    return std::unique_ptr<Session>(std::make_unique<DeskSession>(*this));
  }

  World world;
  int64_t sent = 0;
};

class DeskToolkit final : public Toolkit {
 public:
  const std::vector<ToolSpec>& tools() const override { return specs_; }
  Sharing sharing() const override { return Sharing::kClone; }
  Result<std::unique_ptr<Session>> Open(uint64_t seed) override {
    return std::unique_ptr<Session>(std::make_unique<DeskSession>(seed));
  }

  ToolReply Call(std::string_view tool, const Json& arguments, Session* session,
                 const CallLimits&) override {
    auto* own = static_cast<DeskSession*>(session);
    const Result<Json> answer = Answer(own->world, tool, arguments);
    if (!answer.ok()) return Refuted(DumpJson(Json::Of({{"error", answer.error().message()}})));
    if (tool == "send") ++own->sent;
    return Answered(DumpJson(*answer));
  }

 private:
  const std::vector<ToolSpec> specs_ = Specs();
};

}  // namespace

std::unique_ptr<Toolkit> NewDeskToolkit() { return std::make_unique<DeskToolkit>(); }

World WorldOf(uint64_t session_seed) { return World(Sessions::SeedOf(session_seed, 0)); }

Result<Json> Answer(const World& world, std::string_view tool, const Json& arguments) {
  const auto text = [&](std::string_view key) -> const std::string& {
    return arguments.Find(key)->AsString();
  };
  const auto known = [&](std::string_view key, std::span<const std::string_view> words) {
    return IndexOf(words, text(key)) >= 0;
  };
  if (tool == "weather") {
    if (!known("city", Cities()) || !known("day", Days())) return NotFound();
    const Weather weather = world.WeatherOf(text("city"), text("day"));
    return Json::Of({{"sky", weather.sky}, {"temp", weather.temp}});
  }
  if (tool == "contact") {
    if (!known("name", Names())) return NotFound();
    const Contact contact = world.ContactOf(text("name"));
    return Json::Of({{"city", contact.city}, {"phone", contact.phone}});
  }
  if (tool == "schedule") {
    if (!known("name", Names()) || !known("day", Days())) return NotFound();
    const Appointment appointment = world.ScheduleOf(text("name"), text("day"));
    return Json::Of({{"event", appointment.event}, {"hour", appointment.hour}});
  }
  if (tool == "clock") {
    if (!known("city", Cities())) return NotFound();
    return Json::Of({{"hour", world.HourIn(text("city"))}});
  }
  if (tool == "search") {
    const std::string_view query = text("query");
    const size_t blank = query.find(' ');
    const int topic = IndexOf(Topics(), query.substr(0, blank));
    if (blank == std::string_view::npos || topic < 0 ||
        IndexOf(Cities(), query.substr(blank + 1)) < 0) {
      return NotFound();
    }
    return Json::Of({{"text", world.Known(topic, query.substr(blank + 1))}});
  }
  if (tool == "calculator") {
    if (!IsExpression(text("expression"))) {
      return Error(ErrorCode::kParse, "bad expression");
    }
    const Result<std::string> value = Calculate(text("expression"));
    if (!value.ok()) return Error(ErrorCode::kParse, "bad expression");
    return Json::Of({{"result", *ParseJson(*value)}});
  }
  if (tool == "convert") {
    const Conversion* conversion = FindConversion(text("from"), text("to"));
    if (conversion == nullptr) return Error(ErrorCode::kInvalidArgument, "bad unit");
    // 12.0 is an integer to JSON Schema. The limit keeps the product in range.
    const double amount = arguments.Find("amount")->AsDouble();
    if (!(std::abs(amount) <= 1e12)) return Error(ErrorCode::kInvalidArgument, "amount too large");
    return Json::Of({{"amount", Convert(*conversion, static_cast<int64_t>(amount))}});
  }
  CHECK(tool == "send", "a tool that the desk does not have");
  if (!known("to", Names())) return NotFound();
  return Json::Of({{"ok", true}});
}

}  // namespace hone::desk
