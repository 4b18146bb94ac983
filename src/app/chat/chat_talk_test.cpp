#include "app/chat/chat_talk.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/file.h"
#include "support/tiny_served.h"

namespace hone {
namespace {

std::string Transcript(const std::string& input, std::vector<std::string> examples = {},
                       const std::string& dialect = "hermes") {
  const auto served = TinyServed(dialect);
  PolicyOptions options;
  options.sampling = {.temperature = 0, .forbidden_set = 1};
  options.max_turn_tokens = 6;
  const Policy policy =
      Policy::New(served->engine.get(), served->dialect.get(), served->tokenizer.get(), options)
          .value();
  std::istringstream in(input);
  std::ostringstream out;
  Talk talk({.policy = &policy, .opening = {}, .examples = std::move(examples)}, {.echo = true},
            Terminal(), &in, &out);
  const auto ran = talk.Run();
  EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().message());
  return out.str();
}

TEST(ChatTalk, TheEndOfTheInputIsTheEnd) {
  EXPECT_EQ(Transcript(""), "there are no examples: say something\nyou> \n");
}

TEST(ChatTalk, ExamplesCanBeSaidByNumber) {
  const std::string out = Transcript("2\n", {"first thing", "second thing"});
  EXPECT_NE(out.find("  1  first thing\n"), std::string::npos);
  EXPECT_NE(out.find("you> 2\nsecond thing\n"), std::string::npos) << out;
}

TEST(ChatTalk, CommandsAreNotSaidToTheAgent) {
  const std::string out = Transcript("/tools\n/help\n/new\n/quit\nnever read\n");
  EXPECT_NE(out.find("it has no tools"), std::string::npos);
  EXPECT_NE(out.find("there are /examples"), std::string::npos);
  EXPECT_NE(out.find("a new conversation"), std::string::npos);
  EXPECT_EQ(out.find("never read"), std::string::npos);
}

TEST(ChatTalk, TheSameIsSaidToTheSame) {
  const std::string once = Transcript("Hello\n");
  EXPECT_EQ(once, Transcript("Hello\n"));
  const std::string many = Transcript("Hello\nand\nthen\n" + std::string(40, 'x') + "\n");
  EXPECT_TRUE(many.starts_with(once.substr(0, once.rfind("you> "))));
}

TEST(ChatTalk, WhereTheTemplateRewritesThePastAllOfItIsRenderedAnew) {
  const TemporaryDirectory model;
  ASSERT_TRUE(WriteFileAtomic(model.path() / "chat_template.jinja",
                              "{{ messages|length }}{% for m in messages %}<|im_start|>{{ m.role "
                              "}}\n{{ m.content }}<|im_end|>\n{% endfor %}"
                              "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
                  .ok());
  const std::string out = Transcript("Hello\nand\nthen\n", {}, "template:" + model.path().string());
  EXPECT_NE(out.find("you> and\n"), std::string::npos) << out;
  EXPECT_NE(out.find("you> then\n"), std::string::npos) << "the talk goes on: " << out;
}

}  // namespace
}  // namespace hone
