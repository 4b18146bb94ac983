#include "text/chat_template.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "base/hash.h"
#include "text/dialect.h"

namespace hone {
namespace {

constexpr char kFolder[] = HONE_SOURCE_DIR "/tests/golden/templates/";

// By its name in the goldens, where tag sets are files beside them.
std::unique_ptr<Dialect> GoldenDialect(const std::string& name) {
  if (!name.ends_with(".toml")) return NewDialect(name).value();
  return NewDialect("tagged:" + (kFolder + name.substr(name.find(':') + 1))).value();
}

// llama3 is a template itself, which the interpreter runs (llama3_test.cpp).
std::vector<std::unique_ptr<Dialect>> AllBuiltIn() {
  std::vector<std::unique_ptr<Dialect>> dialects;
  for (const auto& [name, about] : BuiltInDialects()) {
    if (name.ends_with(".toml") || name == "llama3" || name.starts_with("template:")) continue;
    dialects.push_back(NewDialect(name).value());
  }
  return dialects;
}

TEST(ChatTemplate, EveryDialectHasItsOwn) {
  std::map<std::string, std::string> seen;
  for (const auto& dialect : AllBuiltIn()) {
    const std::string text = dialect->ChatTemplate();
    EXPECT_TRUE(text.starts_with("{%-") && text.ends_with("-%}")) << dialect->traits().name;
    EXPECT_NE(text.find("add_generation_prompt"), std::string::npos) << dialect->traits().name;
    const auto [other, fresh] = seen.emplace(text, dialect->traits().name);
    EXPECT_TRUE(fresh) << dialect->traits().name << " has the template of " << other->second;
  }
}

// Jinja2 ran the templates on these conversations (tests/golden/check_chat_templates.py).
TEST(ChatTemplate, JinjaRendersWhatTheDialectDoes) {
  const auto rows = ParseJson(*ReadFile(std::string(kFolder) + "rendered.json"));
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  std::map<std::string, int> compared;
  for (const Json& row : rows->AsArray()) {
    const std::string& name = row.Find("dialect")->AsString();
    const auto dialect = GoldenDialect(name);
    ASSERT_EQ(Sha256Hex(dialect->ChatTemplate()), row.Find("template_sha256")->AsString())
        << "the template of " << name
        << " is not the one that Jinja2 ran; run check_chat_templates.py HONE --write";
    const auto conversation = ConversationFromJson(*row.Find("conversation"));
    ASSERT_TRUE(conversation.ok()) << conversation.error().message();
    const auto pieces = dialect->Render(*conversation);
    ASSERT_TRUE(pieces.ok()) << pieces.error().message();
    EXPECT_EQ(TextOf(*pieces), row.Find("text")->AsString()) << name;
    ++compared[dialect->traits().name];
  }
  for (const auto& dialect : AllBuiltIn()) EXPECT_EQ(compared[dialect->traits().name], 6);
  EXPECT_EQ(compared["tagged:sql"], 6) << "a tag set from a file";
}

TEST(ChatTemplate, DataIsWrittenAsJinjaReadsIt) {
  EXPECT_EQ(JinjaSet("x", Json::Of({{"a", "'\"\\\n\x01é"}, {"b", true}})),
            "\n{%- set x = {\"a\": \"'\\\"\\\\\\n\\u0001é\", \"b\": true} -%}");
}

// Python would otherwise write {"a": 1}, with spaces.
TEST(ChatTemplate, CompactJsonIsSpelledWithoutOptionsOfTojson) {
  for (const auto& dialect : AllBuiltIn()) {
    EXPECT_EQ(dialect->ChatTemplate().find("tojson("), std::string::npos) << dialect->traits().name;
  }
}

}  // namespace
}  // namespace hone
