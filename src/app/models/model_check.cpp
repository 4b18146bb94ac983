#include "app/models/model_check.h"

#include <cmath>

#include "rollout/demonstration.h"
#include "text/dialect.h"
#include "text/vocabulary/text_frame.h"

namespace hone {
namespace {

// More nats than a guess by so much are no accident.
constexpr double kReadingMargin = 0.5;

constexpr char kReadingAsked[] = "What is the weather in Paris like?";
constexpr char kReadingText[] =
    "The weather in Paris is often mild. In spring it rains on many days, and in summer the "
    "evenings are long and warm. Most people who visit the city walk along the river, look at the "
    "bridges, and have something to eat in one of the small streets nearby.";

// Nats per token of what the policy says in this tree; what nothing stands before is predicted by
// nothing.
Result<double> NatsOf(const Tree& tree, Engine* engine) {
  for (const Node& node : tree.nodes) HONE_RETURN_IF_ERROR(engine->CheckTokens(node.tokens));
  const TreeLogprobs scores = engine->LogProbs({&tree, 1})[0];
  double nats = 0, tokens = 0;
  for (size_t n = 0; n < tree.nodes.size(); ++n) {
    if (tree.nodes[n].author != Author::kPolicy) continue;
    for (size_t t = tree.nodes[n].parent < 0 ? 1 : 0; t < tree.nodes[n].tokens.size(); ++t) {
      nats -= scores[n].logprobs[t];
      ++tokens;
    }
  }
  return nats / tokens;
}

// The text as what an assistant says in the model's own words; nothing where that cannot be
// written.
std::optional<Tree> TurnOf(const std::filesystem::path& folder, const Tokenizer& tokenizer) {
  const auto dialect = NewDialect("template:" + folder.string());
  if (!dialect.ok()) return std::nullopt;
  const auto codec = TurnCodec::New(dialect->get(), &tokenizer);
  if (!codec.ok()) return std::nullopt;
  Conversation conversation;
  conversation.messages.push_back({.role = Role::kUser, .content = kReadingAsked});
  conversation.messages.push_back({.role = Role::kAssistant, .content = kReadingText});
  Result<Tree> tree = ConversationTree(*codec, conversation, {false, true});
  if (!tree.ok()) return std::nullopt;
  return *std::move(tree);
}

std::string VerdictOf(const ReadingCheck& check, bool from_nothing) {
  if (check.broken) {
    return "worse than guessing: the load looks broken, or the model was trained from nothing on "
           "texts unlike English";
  }
  if (from_nothing && check.nats() > check.guessing + kReadingMargin) {
    return "it loads; it was trained by Hone on its tasks and reads no other English";
  }
  if (check.nats() > check.guessing - 1) {
    return "no better than guessing: an untrained model, or another tokenizer";
  }
  // A Llama whose queries and keys are in another's order has 0.6 to 0.7, as it is stored 0.4.
  constexpr double kPoor = 0.5;
  return check.nats() > kPoor * check.guessing
             ? "reads English poorly: a model of other texts, or one that is not computed as it "
               "was trained"
             : "reads English";
}

}  // namespace

Result<ReadingCheck> CheckReading(const ReadingCheckOptions& options, const Tokenizer& tokenizer,
                                  Engine* engine) {
  ReadingCheck check{.guessing = std::log(static_cast<double>(engine->config().vocab))};
  const Tree bare = ChainOf(WithBeginning(options.beginning, tokenizer.Encode(kReadingText)));
  HONE_ASSIGN_OR_RETURN(check.bare, NatsOf(bare, engine));
  if (const std::optional<Tree> turn = TurnOf(options.folder, tokenizer)) {
    HONE_ASSIGN_OR_RETURN(check.as_turn, NatsOf(*turn, engine));
  }
  const double nats = check.nats();
  check.broken =
      !std::isfinite(nats) || (nats > check.guessing + kReadingMargin && !options.from_nothing);
  check.verdict = VerdictOf(check, options.from_nothing);
  return check;
}

}  // namespace hone
