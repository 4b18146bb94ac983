#include "simulate/players/taught_model.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/rng.h"
#include "simulate/players/call_text.h"
#include "text/bpe_trainer.h"
#include "text/dialect.h"

namespace hone {
namespace {

// Of the lesson's other calls each is there for the choice of examples with one of these chances.
constexpr double kShares[] = {1.0, 0.5, 0.25, 0.125, 0.0625};

// The examples that whoever plays this call is shown.
std::vector<const RecordedCall*> ExamplesFor(const RecordedCall& call, const Lesson& lesson,
                                             int64_t count, Rng rng) {
  const double share = kShares[rng.Below(std::size(kShares))];
  std::vector<const RecordedCall*> examples;
  for (const RecordedCall* other :
       NearestCalls(lesson.calls, call.tool, call.arguments, lesson.calls.calls.size())) {
    if (static_cast<int64_t>(examples.size()) >= count) break;
    if (other == &call || !IsShown(*other)) continue;
    if (rng.NextDouble() < share) examples.push_back(other);
  }
  return examples;
}

// The question with its answer, as the dialect writes them.
Result<std::vector<Piece>> PiecesOf(const RecordedCall& call, const Lesson& lesson,
                                    const TeachingOptions& options, const Dialect& dialect,
                                    const Rng& rng) {
  const Toolbox::Tool* tool = lesson.tools->Find(call.tool);
  if (tool == nullptr) {
    return Error(ErrorCode::kNotFound, fmt::format("the tool {} is not described", call.tool));
  }
  const SimulatedCall asked{
      .spec = &tool->spec, .arguments = call.arguments, .writes = call.writes, .known = call.known};
  std::vector<ChatMessage> messages =
      PlayersPrompt(asked, ExamplesFor(call, lesson, options.examples, rng), options.prompt);
  messages.push_back({"assistant", WrittenAnswer(call.answer)});
  const Conversation conversation = ConversationOf(messages);
  HONE_ASSIGN_OR_RETURN(std::vector<Piece> pieces, dialect.Render(conversation));
  // What a dialect writes behind the last turn nobody asks for.
  while (!pieces.empty() && pieces.back().author != Author::kPolicy) pieces.pop_back();
  if (pieces.size() < 2) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("the dialect {} cannot write an answer down", dialect.traits().name));
  }
  return pieces;
}

using Sequences = std::vector<std::vector<Piece>>;

Result<Sequences> Render(const std::vector<Lesson>& lessons, const TeachingOptions& options,
                         const Dialect& dialect) {
  const Rng rng = Rng(options.model.seed).Split("examples");
  Sequences sequences;
  for (size_t i = 0; i < lessons.size(); ++i) {
    const std::vector<RecordedCall>& calls = lessons[i].calls.calls;
    for (size_t j = 0; j < calls.size(); ++j) {
      HONE_ASSIGN_OR_RETURN(std::vector<Piece> pieces, PiecesOf(calls[j], lessons[i], options,
                                                                dialect, rng.Split(i).Split(j)));
      sequences.push_back(std::move(pieces));
    }
  }
  return sequences;
}

Result<Tokenizer> TrainTokenizer(const Sequences& sequences, const Dialect& dialect,
                                 int64_t vocabulary) {
  std::vector<std::string> texts;
  for (const std::vector<Piece>& pieces : sequences) {
    for (const Piece& piece : pieces) texts.push_back(piece.text);
  }
  return TrainBpe(texts, {.vocab_size = static_cast<int32_t>(vocabulary),
                          .min_frequency = 4,
                          .split = std::string(kCallSplit),
                          .nfc = false,
                          .added = AddedTokensOf(dialect.traits())});
}

}  // namespace

Result<void> TaughtModel::Save(const std::filesystem::path& folder) const {
  HONE_RETURN_IF_ERROR(SaveModel(engine->model(), SaveType::kF32, folder));
  return WriteFileAtomic(folder / "tokenizer.json", tokenizer->ToJson());
}

Result<TaughtModel> TeachModel(const std::vector<Lesson>& lessons, const TeachingOptions& options,
                               TrainingReport* report,
                               const std::function<void(const TrainingProgress&)>& progress) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Dialect> dialect, NewDialect(options.dialect));
  HONE_ASSIGN_OR_RETURN(const Sequences sequences, Render(lessons, options, *dialect));
  if (sequences.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "there are no recorded calls of these tools to learn from; record some first");
  }
  HONE_ASSIGN_OR_RETURN(Tokenizer tokenizer,
                        TrainTokenizer(sequences, *dialect, options.model.vocabulary));
  TaughtModel taught;
  taught.tokenizer = std::make_unique<Tokenizer>(std::move(tokenizer));
  std::vector<AnswerExample> examples;
  for (const std::vector<Piece>& pieces : sequences) {
    std::vector<Piece> question(pieces.begin(), pieces.end() - 1);
    AddExample(EncodePieces(*taught.tokenizer, question),
               EncodePieceAt(*taught.tokenizer, pieces, pieces.size() - 1), options.model.positions,
               &examples, report);
  }
  HONE_ASSIGN_OR_RETURN(taught.engine, TrainOnAnswers(examples, taught.tokenizer->vocab_size(),
                                                      options.model, report, progress));
  return taught;
}

}  // namespace hone
