#include "text/jinja/jinja.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "support/shared_data.h"

namespace hone {
namespace {

constexpr int64_t kNoon = 1736942400;  // 2025-01-15 12:00 UTC, which the goldens were made at

JinjaDict VariablesOf(const Json& json, bool foreign = true) {
  return JinjaValue::FromJson(json, foreign).value().AsDict();
}

Result<JinjaRendering> Rendered(std::string_view source, const Json& variables,
                                const JinjaLimits& limits = {}) {
  HONE_ASSIGN_OR_RETURN(const JinjaTemplate parsed, JinjaTemplate::Parse(source));
  return parsed.Render(VariablesOf(variables), kNoon, limits);
}

std::string Text(std::string_view source, const Json& variables = Json::Object()) {
  const auto rendered = Rendered(source, variables);
  return rendered.ok() ? rendered->text.bytes() : "ERROR " + rendered.error().message();
}

std::string Problem(std::string_view source, const Json& variables = Json::Object()) {
  const auto rendered = Rendered(source, variables);
  return rendered.ok() ? "no error: " + rendered->text.bytes() : rendered.error().message();
}

// [begin, end) in characters, as Hugging Face's transformers give them.
Json SpansOf(const JinjaRendering& rendering) {
  Json::Array spans;
  const std::string_view text = rendering.text.view();
  for (const ByteRange& range : rendering.generations) {
    spans.push_back(Json::Array{static_cast<int64_t>(CountCharacters(text.substr(0, range.begin))),
                                static_cast<int64_t>(CountCharacters(text.substr(0, range.end)))});
  }
  return spans;
}

TEST(Jinja, RendersEveryTemplateAsTransformersDo) {
  HONE_NEED_SHARED(data, "data/chat-templates");
  const Json contexts = *ParseJson(*ReadFile(data / "contexts.json"));
  const auto rows = ParseJsonLines(*ReadFile(data / "renderings.jsonl"));
  ASSERT_TRUE(rows.ok());
  std::map<std::string, JinjaTemplate> templates;
  int equal = 0;
  for (const Json& row : *rows) {
    const std::string& name = row.Find("template")->AsString();
    const std::string& context = row.Find("context")->AsString();
    if (!templates.contains(name)) {
      const auto parsed = JinjaTemplate::Parse(*ReadFile(data / "templates" / (name + ".jinja")));
      ASSERT_TRUE(parsed.ok()) << name << ": " << parsed.error().message();
      templates.emplace(name, *parsed);
    }
    const auto rendered = templates.at(name).Render(VariablesOf(*contexts.Find(context)), kNoon);
    if (row.Find("error") != nullptr) {
      const bool raised = !rendered.ok();
      EXPECT_TRUE(raised) << name << " with " << context;
      equal += raised ? 1 : 0;
      continue;
    }
    ASSERT_TRUE(rendered.ok()) << name << " with " << context << ": " << rendered.error().message();
    EXPECT_EQ(rendered->text.bytes(), row.Find("expected")->AsString()) << name << " " << context;
    if (const Json* spans = row.Find("assistant_char_spans")) {
      EXPECT_EQ(SpansOf(*rendered), *spans) << name << " with " << context;
    }
    equal += rendered->text.bytes() == row.Find("expected")->AsString() ? 1 : 0;
  }
  EXPECT_EQ(equal, 253);
}

TEST(Jinja, DoesTheUnitCasesOfLlamaCpp) {
  HONE_NEED_SHARED(data, "data/chat-templates/jinja_unit_cases.jsonl");
  // Lists are not changed: the sandbox of transformers forbids it, and the data says so.
  const std::set<std::string> forbidden = {"array.pop() last", "array.pop() with index",
                                           "array.append()"};
  int equal = 0, refused = 0;
  const auto rows = ParseJsonLines(*ReadFile(data));
  ASSERT_TRUE(rows.ok());
  for (const Json& row : *rows) {
    const std::string& name = row.Find("name")->AsString();
    const auto rendered = Rendered(row.Find("template")->AsString(), *row.Find("vars"));
    if (forbidden.contains(name)) {
      EXPECT_FALSE(rendered.ok()) << name;
      refused += rendered.ok() ? 0 : 1;
      continue;
    }
    ASSERT_TRUE(rendered.ok()) << name << ": " << rendered.error().message();
    EXPECT_EQ(rendered->text.bytes(), row.Find("expected")->AsString()) << name;
    equal += rendered->text.bytes() == row.Find("expected")->AsString() ? 1 : 0;
  }
  EXPECT_EQ(equal, 151);
  EXPECT_EQ(refused, 3);
}

TEST(Jinja, RendersTheTemplatesOfLlamaCppsTests) {
  HONE_NEED_SHARED(data, "data/chat-templates/llamacpp_template_cases.jsonl");
  int equal = 0;
  const auto rows = ParseJsonLines(*ReadFile(data));
  ASSERT_TRUE(rows.ok());
  for (const Json& row : *rows) {
    const auto rendered = Rendered(row.Find("template")->AsString(), *row.Find("context"));
    ASSERT_TRUE(rendered.ok()) << row.Find("name")->AsString() << rendered.error().message();
    EXPECT_EQ(rendered->text.bytes(), row.Find("expected")->AsString());
    equal += rendered->text.bytes() == row.Find("expected")->AsString() ? 1 : 0;
  }
  EXPECT_EQ(equal, 19);
}

// Written by Jinja2 3.1.6 (tests/golden/templates/make_jinja.py).
TEST(Jinja, DoesWhatJinja2Does) {
  const auto rows =
      ParseJsonLines(*ReadFile(HONE_SOURCE_DIR "/tests/golden/templates/jinja.jsonl"));
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  int cases = 0;
  const Json& variables = *rows->front().Find("vars");
  for (const Json& row : *rows) {
    if (row.Find("template") == nullptr) continue;
    const std::string& source = row.Find("template")->AsString();
    const auto rendered = Rendered(source, variables);
    ++cases;
    if (row.Find("error") != nullptr) {
      EXPECT_FALSE(rendered.ok()) << source << "\ngave: " << rendered->text.bytes();
      continue;
    }
    EXPECT_EQ(rendered.ok() ? rendered->text.bytes() : rendered.error().message(),
              row.Find("expected")->AsString())
        << source;
  }
  EXPECT_EQ(cases, 227);
}

// Templates cut, doubled and mixed with each other: they run or say why not. (jinja_fuzz.cpp does
// the same for hours.)
TEST(Jinja, BrokenTemplatesAreErrorsAndNeverMore) {
  const auto rows =
      ParseJsonLines(*ReadFile(HONE_SOURCE_DIR "/tests/golden/templates/jinja.jsonl"));
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  const JinjaDict variables = VariablesOf(*rows->front().Find("vars"));
  std::vector<std::string> sources;
  for (const Json& row : *rows) {
    if (const Json* source = row.Find("template")) sources.push_back(source->AsString());
  }
  Rng rng(7);
  int ran = 0, failed = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string source = sources[rng.Below(sources.size())];
    for (uint64_t changes = rng.Below(4) + 1; changes > 0; --changes) {
      const std::string& other = sources[rng.Below(sources.size())];
      const size_t at = rng.Below(source.size() + 1), from = rng.Below(other.size());
      switch (rng.Below(4)) {
        case 0: source.erase(at, rng.Below(8)); break;
        case 1: source.insert(at, other.substr(from, rng.Below(20))); break;
        case 2: source.insert(at, source.substr(0, at)); break;
        default: source.replace(at, rng.Below(5), other.substr(from, rng.Below(5)));
      }
      if (source.size() > 2000) source.resize(2000);
    }
    const auto parsed = JinjaTemplate::Parse(source);
    if (!parsed.ok()) {
      ++failed;
      continue;
    }
    const auto rendered =
        parsed->Render(variables, kNoon, {.work = 20'000, .output = 1 << 16, .depth = 100});
    if (rendered.ok()) {
      EXPECT_TRUE(IsUtf8(rendered->text.view())) << source;
      ++ran;
    } else {
      EXPECT_TRUE(rendered.error().message().starts_with("line ")) << source;
      ++failed;
    }
  }
  EXPECT_GT(ran, 500);
  EXPECT_GT(failed, 500);
}

TEST(Jinja, ErrorsNameLineAndColumn) {
  EXPECT_EQ(Problem("a\n{{ b.c.d }}"), "line 2, column 5: 'b' is undefined");
  EXPECT_EQ(Problem("{% if a %}"), "line 1, column 11: the template ends before {% endif %}");
  EXPECT_EQ(Problem("{{ 1 + }}"), "line 1, column 8: }} where an expression should stand");
  EXPECT_EQ(Problem("\xC3\xA9{{ 'a' ~ 1 + [] }}"),
            "line 1, column 13: unsupported operand types for +: 'str' and 'list'");
  EXPECT_EQ(Problem("{% macro f() %}\n{{ raise_exception('no') }}{% endmacro %}{{ f() }}"),
            "line 2, column 19: the template refuses: no");
  EXPECT_EQ(Problem("{{ 'a"), "line 1, column 4: the string is not closed");
  EXPECT_NE(Problem("{% include 'x' %}").find("not for chat templates"), std::string::npos);
}

TEST(Jinja, TextOfMessagesStaysForeign) {
  const auto rendered = Rendered(
      "<s>{% for m in messages %}[{{ m.content|trim }}]{{ (m.content + '!')[1:]|upper }}{% endfor "
      "%}",
      *ParseJson(R"({"messages": [{"content": " ab "}]})"));
  ASSERT_TRUE(rendered.ok());
  EXPECT_EQ(rendered->text.bytes(), "<s>[ab]AB !");
  // The brackets are the template's. Upper case does not keep places: all of it counts.
  const std::vector<ByteRange> foreign = {{4, 6}, {7, 11}};
  EXPECT_EQ(rendered->text.foreign(), foreign);
}

TEST(Jinja, EveryLimitEndsTheRunAndNotTheProgram) {
  const char* endless[] = {
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{{ 'a' * 9999999999 }}",
      "{% set ns = namespace(x=[]) %}{% for i in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}"
      "{% endfor %}{{ ns.x }}",
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
      "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}"
      "{% endfor %}",
      "{{ range(1000000) }}",
      "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
      "{{ '%9999999d' % 1 }}",
      "{{ 'x'.ljust(99999999999) }}",
      "{{ [1]|tojson(indent=99999999999) }}",
  };
  for (const char* source : endless) {
    EXPECT_FALSE(Rendered(source, Json::Object(), {.work = 300'000}).ok()) << source;
  }
  EXPECT_FALSE(Rendered("{{ 'abc' }}", Json::Object(), {.output = 2}).ok());
  EXPECT_FALSE(JinjaTemplate::Parse(std::string(5000, '(')).ok() &&
               Rendered("{{ " + std::string(5000, '('), Json::Object()).ok());
  std::string deep = "{{ 1";
  for (int i = 0; i < 5000; ++i) deep += " + 1";
  EXPECT_FALSE(JinjaTemplate::Parse(deep + " }}").ok());
  std::string nested;
  for (int i = 0; i < 5000; ++i) nested += "{% if 1 %}";
  EXPECT_FALSE(JinjaTemplate::Parse(nested).ok());
}

TEST(Jinja, ANamespaceMayHoldItself) {
  EXPECT_EQ(Text("{% set ns = namespace() %}{% set ns.self = ns %}{{ ns.self.self == ns }}"),
            "True");
  EXPECT_EQ(Text("{% set ns = namespace() %}{% set ns.self = ns %}{{ ns }}"), "<Namespace object>");
}

TEST(Jinja, ALoopThatIsOverHasNoItems) {
  EXPECT_EQ(Text("{% set ns = namespace() %}{% for i in [1, 2] %}{% set ns.l = loop %}{% endfor %}"
                 "[{{ ns.l.previtem }}{{ ns.l.nextitem }}]"),
            "[]");
}

TEST(Jinja, NumbersAtTheEdgeAreErrorsOrNumbers) {
  for (const char* source :
       {"{{ 9223372036854775807 + 1 }}", "{{ -9223372036854775807 - 2 }}", "{{ 2 ** 64 }}",
        "{{ 99999999999999999999 * 2 }}", "{{ 99999999999999999999|round(-2) }}"}) {
    EXPECT_NE(Problem(source).find("64 bits"), std::string::npos) << source;
  }
  EXPECT_EQ(Text("{{ 'x'.zfill(-9223372036854775807) }}"), "x");
  EXPECT_EQ(Text("{{ 'abc'|truncate(3, leeway=9223372036854775807) }}"), "abc");
  EXPECT_EQ(Text("{{ -1e300|filesizeformat|length > 100 }}"), "True");
}

TEST(Jinja, TheTimeIsPassedIn) {
  EXPECT_EQ(Text("{{ strftime_now('%d %b %Y, %H:%M') }}"), "15 Jan 2025, 12:00");
}

// What Jinja2 3.1.6 makes of these; templates ask None for its tool calls.
TEST(Jinja, FiltersOfSequencesFindNothingInWhatIsFalse) {
  EXPECT_EQ(Text("{{ None|selectattr('a')|list }}"), "[]");
  EXPECT_EQ(Text("{{ None|selectattr('role', 'equalto', 'a')|list|length }}"), "0");
  EXPECT_EQ(Text("{{ None|rejectattr('a')|first }}"), "");
  EXPECT_EQ(Text("{{ None|map(attribute='a')|list }}"), "[]");
  EXPECT_EQ(Text("{{ None|select|list }}{{ none|reject|list }}"), "[][]");
  EXPECT_EQ(Text("{% for a in None|selectattr('x') %}{% else %}e{% endfor %}"), "e");
  EXPECT_TRUE(Text("{{ 5|selectattr('a')|list }}").starts_with("ERROR"));
  EXPECT_TRUE(Text("{{ None|list }}").starts_with("ERROR"));
}

}  // namespace
}  // namespace hone
