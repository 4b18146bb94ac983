#include "rollout/segment.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "rollout/strategies.h"
#include "support/desk_rollout.h"

namespace hone {
namespace {

constexpr char kTemplate[] =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<tool_call>\n{{ c.function|tojson }}\n</tool_call>"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
// Puts something before everything once there are results.
constexpr char kRewrites[] = "{% for m in messages if m.role == 'tool' %}.{% endfor %}";

class SegmentTest : public testing::Test {
 protected:
  std::string Named(const char* name, const std::string& source) {
    const auto path = directory_.path() / name;
    CHECK(WriteFileAtomic(path, source).ok());
    return "template:" + path.string();
  }
  std::string Appends() { return Named("appends.jinja", kTemplate); }
  std::string Rewrites() { return Named("rewrites.jinja", std::string(kRewrites) + kTemplate); }

  const TemporaryDirectory directory_;
};

int FoldsIn(const std::vector<Tree>& trees) {
  int folds = 0;
  for (const Tree& tree : trees) {
    for (const Node& node : tree.nodes) {
      folds += node.folded_from != kNoNode ? 1 : 0;
      EXPECT_FALSE(IsFold(node)) << "a template that rewrites folds nothing";
    }
  }
  return folds;
}

TEST_F(SegmentTest, OnlySomeTemplatesCannotAlwaysAppend) {
  EXPECT_EQ(*AppendingOf(*NewDialect("hermes").value()), Appending::kAlways);
  EXPECT_EQ(*AppendingOf(*NewDialect("llama3").value()), Appending::kAlways);
  EXPECT_EQ(*AppendingOf(*NewDialect("hermes:qwen3").value()), Appending::kNotAlways);
  EXPECT_EQ(*AppendingOf(*NewDialect(Appends()).value()), Appending::kAlways);
  EXPECT_EQ(*AppendingOf(*NewDialect(Rewrites()).value()), Appending::kNotAlways);
}

TEST_F(SegmentTest, ATemplateMayRefuseResultsButNotQuestions) {
  const auto refusing = [&](const std::string& role) {
    return NewDialect(Named("refuses.jinja", "{% for m in messages %}{% if m.role == '" + role +
                                                 "' and loop.index > 1 %}{{ raise_exception('no') "
                                                 "}}{% endif %}{% endfor %}" +
                                                 kTemplate))
        .value();
  };
  EXPECT_EQ(*AppendingOf(*refusing("tool")), Appending::kNotAlways);
  EXPECT_FALSE(AppendingOf(*refusing("user")).ok());
}

TEST_F(SegmentTest, ADemonstrationBeginsASegmentWhereTheTemplateRewrites) {
  const DeskPolicy desk({.dialect = Rewrites(), .tasks = 4, .least_calls = 1});
  for (size_t i = 0; i < desk.tasks().size(); ++i) {
    const Playthrough& played = desk.demonstrations()[i];
    const Tree tree = DemonstrationTree(desk.codec(), desk.tasks()[i], 1, played).value();
    EXPECT_EQ(Validate({tree, {}, {}}), std::vector<std::string>());
    EXPECT_EQ(FoldsIn({tree}), static_cast<int>(played.turns.size()) - 1);
    // The last segment is the conversation as the template writes it now, and the last turn.
    const std::string text =
        desk.tokenizer().Decode(TokensOf(tree, PathTo(tree, tree.leaves[0].node)));
    EXPECT_TRUE(text.starts_with('.')) << text;
    size_t turns = 0;
    for (const Node& node : tree.nodes) turns += node.author == Author::kPolicy ? 1 : 0;
    EXPECT_EQ(turns, played.turns.size()) << "every turn was the policy's once";
  }
}

TEST_F(SegmentTest, ARolloutBeginsASegmentAndKeepsWhatWasDrawn) {
  DeskPolicy desk({.dialect = Appends(), .tasks = 4, .least_calls = 1, .steps = 160});
  const auto rewriting = NewDialect(Rewrites()).value();
  const Policy policy = Policy::New(&desk.engine(), rewriting.get(), &desk.tokenizer(),
                                    {.sampling = {.temperature = 0.7f}, .max_turn_tokens = 48})
                            .value();
  for (const RegisteredStrategy& known : BuiltInStrategies()) {
    SCOPED_TRACE(known.name);
    const auto strategy = NewStrategy(known.name).value();
    const std::shared_ptr<Timeline> timeline = NewVirtualTimeline();
    Executor executor(OptionsFor({}, *desk.environment().tools(), timeline.get()).value(),
                      timeline.get());
    const Rollout rollout =
        Rollout::New({}, &desk.environment(), policy, strategy.get(), &executor).value();
    const RolloutResult result = rollout.Run(desk.Requests(4)).value();
    EXPECT_GT(FoldsIn(result.trees), 0);
    ExpectSound(&desk, result.trees);
  }
}

}  // namespace
}  // namespace hone
