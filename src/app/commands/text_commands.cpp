// hone tokenize, hone tokenizer, hone render, hone parse.

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/input.h"
#include "app/report.h"
#include "app/views/text_views.h"
#include "base/file.h"
#include "base/utf8.h"
#include "text/bpe_trainer.h"
#include "text/dialect.h"
#include "text/template_dialect.h"

namespace hone {
namespace {

Result<std::string> CheckedText(std::string text, const std::string& where) {
  const size_t valid = Utf8ValidPrefix(text);
  if (valid == text.size()) return text;
  return Error(ErrorCode::kParse,
               fmt::format("{}: byte {} is not UTF-8; convert the text first (iconv -t UTF-8)",
                           where, valid));
}

Result<std::string> ReadTextInput(const std::string& file) {
  HONE_ASSIGN_OR_RETURN(std::string text, ReadInput(file));
  return CheckedText(std::move(text), file == "-" ? "standard input" : file);
}

std::string WithoutFinalNewline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

struct TextArguments {
  std::string tokenizer, dialect, file = "-", end = "unknown";
  std::optional<std::string> text;  // given on the command line, perhaps empty
};

Result<std::string> TextOf(const TextArguments& arguments) {
  if (arguments.text) return CheckedText(*arguments.text, "the text");
  return ReadTextInput(arguments.file);
}

Result<std::string> Tokenize(const TextArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Load(arguments.tokenizer));
  HONE_ASSIGN_OR_RETURN(const std::string text, TextOf(arguments));
  const std::vector<TokenId> ids = tokenizer.Encode(text);
  if (!json) return TokensView(tokenizer, ids, Terminal::Of(stdout));
  return DumpJson(Json::Of({{"ids", Json::ArrayOf(ids)}, {"decoded", tokenizer.Decode(ids)}})) +
         "\n";
}

Result<std::string> Render(const TextArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const auto dialect,
                        NewDialect(DialectIn(arguments.dialect, arguments.tokenizer)));
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadTextInput(arguments.file));
  const auto pieces = [&]() -> Result<std::vector<Piece>> {
    HONE_ASSIGN_OR_RETURN(const Json value, ParseJson(text));
    HONE_ASSIGN_OR_RETURN(const Conversation conversation, ConversationFromJson(value));
    return dialect->Render(conversation);
  }();
  if (!pieces.ok())
    return pieces.error().In(arguments.file == "-" ? "standard input" : arguments.file);
  std::vector<TokenId> ids;
  if (!arguments.tokenizer.empty()) {
    HONE_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Load(arguments.tokenizer));
    ids = EncodePieces(tokenizer, *pieces);
  }
  if (!json) {
    std::string view = PiecesView(*pieces, Terminal::Of(stdout));
    if (!ids.empty()) view += fmt::format("{} tokens\n", ids.size());
    return view;
  }
  Json out = Json::Of({{"text", TextOf(*pieces)}});
  if (!arguments.tokenizer.empty()) out.Set("ids", Json::ArrayOf(ids));
  return DumpJson(out) + "\n";
}

Result<std::string> Parse(const TextArguments& arguments, bool json, bool* faulty) {
  HONE_ASSIGN_OR_RETURN(const auto dialect,
                        NewDialect(DialectIn(arguments.dialect, arguments.tokenizer)));
  HONE_ASSIGN_OR_RETURN(std::string turn, TextOf(arguments));
  if (!arguments.text) turn = WithoutFinalNewline(std::move(turn));
  const TurnEnd end = arguments.end == "ended" ? TurnEnd::kEnded
                      : arguments.end == "cut" ? TurnEnd::kCut
                                               : TurnEnd::kUnknown;
  const ParsedTurn parsed = dialect->Parse(turn, end);
  *faulty = !parsed.faults.empty();
  if (json) return DumpJson(ParsedTurnJson(turn, parsed, nullptr, {})) + "\n";
  return ParsedTurnView(turn, parsed, Terminal::Of(stdout));
}

struct TrainTokenizerArguments {
  std::vector<std::string> files;
  std::string out, split = "qwen2", dialect;
  int vocab = 1024, min_frequency = 2;
};

Result<std::string> TrainTokenizer(const TrainTokenizerArguments& arguments, bool json) {
  BpeTrainingOptions options;
  options.vocab_size = arguments.vocab;
  options.min_frequency = arguments.min_frequency;
  options.split = arguments.split == "qwen2"  ? std::string(kQwen2Split)
                  : arguments.split == "gpt2" ? std::string(kGpt2Split)
                                              : arguments.split;
  if (!arguments.dialect.empty()) {
    HONE_ASSIGN_OR_RETURN(const auto dialect, NewDialect(arguments.dialect));
    const DialectTraits& traits = dialect->traits();
    for (size_t i = 0; i < traits.markers.size(); ++i) {
      options.added.push_back({.content = traits.markers[i], .special = i < traits.specials});
    }
  }
  std::vector<std::string> texts;
  size_t bytes = 0;
  for (const std::string& file : arguments.files) {
    HONE_ASSIGN_OR_RETURN(std::string text, ReadTextInput(file));
    bytes += text.size();
    texts.push_back(std::move(text));
  }
  HONE_ASSIGN_OR_RETURN(const Tokenizer tokenizer, TrainBpe(texts, options));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(arguments.out, tokenizer.ToJson()));
  size_t tokens = 0;
  for (const std::string& text : texts) tokens += tokenizer.Encode(text).size();
  if (json) {
    return DumpJson(Json::Of({{"file", arguments.out},
                              {"vocab_size", tokenizer.vocab_size()},
                              {"bytes", static_cast<int64_t>(bytes)},
                              {"tokens", static_cast<int64_t>(tokens)}})) +
           "\n";
  }
  return fmt::format(
      "{}: {} tokens in the vocabulary, {:.2f} bytes per token on the training text\n",
      arguments.out, tokenizer.vocab_size(),
      tokens == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(tokens));
}

constexpr char kDialectHelp[] =
    "dialect: hermes, llama3, template:FOLDER, tagged:desk, ... (docs/dialects.md)";
constexpr char kTokenizerHelp[] = "tokenizer.json, or a folder with tokenizer files";

}  // namespace

void AddTokenize(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<TextArguments>();
  Command command = program.AddCommand("tokenize", "Show the tokens of a text");
  command.AddOption("--tokenizer,-t", &arguments->tokenizer, kTokenizerHelp).Required();
  Option text = command.AddOption("text", &arguments->text, "the text; standard input when absent");
  command
      .AddOption("--file,-f", &arguments->file, "read the text from a file ('-': standard input)")
      .Excludes(text);
  command.Footer("Example:\n  hone tokenize -t tests/golden/tokenizer \"Hello, world!\"\n");
  command.Action([=] { Finish(context.get(), Tokenize(*arguments, context->json)); });
}

void AddTokenizer(Command program, std::shared_ptr<CommandContext> context) {
  Command group = program.AddCommand("tokenizer", "Make a tokenizer");
  group.NeedsCommand();
  group.Footer("Example:\n  hone tokenizer train README.md -o tokenizer.json\n");
  auto arguments = std::make_shared<TrainTokenizerArguments>();
  Command train = group.AddCommand("train", "Train a byte-level BPE tokenizer on texts");
  train.AddOption("files", &arguments->files, "text files").Required();
  train.AddOption("--out,-o", &arguments->out, "the tokenizer.json to write").Required();
  train.AddOption("--vocab", &arguments->vocab, "bytes and merges").ShowDefault();
  train.AddOption("--min-frequency", &arguments->min_frequency, "of a pair to be merged")
      .ShowDefault();
  train.AddOption("--split", &arguments->split, "qwen2, gpt2, or a regular expression")
      .ShowDefault();
  train.AddOption("--dialect", &arguments->dialect, "add this dialect's markers as tokens");
  train.Footer(
      "Example:\n  hone tokenizer train README.md --vocab 600 --dialect hermes -o "
      "tokenizer.json\n");
  train.Action([=] { Finish(context.get(), TrainTokenizer(*arguments, context->json)); });
}

void AddRender(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<TextArguments>();
  Command command = program.AddCommand("render", "Show a conversation as the policy reads it");
  command.AddOption("--dialect,-d", &arguments->dialect, kDialectHelp).Required();
  command.AddOption("--tokenizer,-t", &arguments->tokenizer, kTokenizerHelp);
  command.AddOption("file", &arguments->file,
                    "JSON with \"messages\" and \"tools\"; standard input when absent");
  command.Footer("Example:\n  hone render -d hermes examples/tour/conversation.json\n");
  command.Action([=] { Finish(context.get(), Render(*arguments, context->json)); });
}

void AddParse(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<TextArguments>();
  Command command = program.AddCommand(
      "parse", "Read a policy's turn: its calls, its answer, or the fault in it");
  command.AddOption("--dialect,-d", &arguments->dialect, kDialectHelp).Required();
  Option text = command.AddOption("text", &arguments->text, "the turn; standard input when absent");
  command.AddOption("--file,-f", &arguments->file, "read it from a file ('-': standard input)")
      .Excludes(text);
  command.AddOption("--end", &arguments->end, "how the turn ended")
      .OneOf({"ended", "cut", "unknown"})
      .ShowDefault();
  command.Footer(
      "Exit status 1 when the turn has a fault.\nExample:\n"
      "  hone parse -d tagged:desk '<answer>fog</answer>'\n");
  command.Action([=] {
    bool faulty = false;
    Finish(context.get(), Parse(*arguments, context->json, &faulty));
    if (faulty) context->exit_status = 1;
  });
}

}  // namespace hone
