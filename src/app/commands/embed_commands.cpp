// hone embed.

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/embedding/text_lines.h"
#include "app/progress_bar.h"
#include "app/report.h"
#include "app/terminal.h"
#include "simulate/models/text_encoder.h"

namespace hone {
namespace {

struct EmbedArguments {
  std::string model, key, query;
  std::vector<std::string> files, texts;
  int64_t top = 10, threads = 0;
};

Result<std::vector<TextLine>> TextsOf(const EmbedArguments& arguments) {
  std::vector<TextLine> lines;
  for (const std::string& text : arguments.texts) {
    HONE_RETURN_IF_ERROR(CheckTextLine("--text", text));
    lines.push_back({"", std::ssize(lines) + 1, text});
  }
  std::vector<std::string> files = arguments.files;
  if (files.empty() && lines.empty()) files.push_back("-");
  for (const std::string& file : files) {
    HONE_ASSIGN_OR_RETURN(std::vector<TextLine> more, ReadTextLines(file, arguments.key));
    lines.insert(lines.end(), std::make_move_iterator(more.begin()),
                 std::make_move_iterator(more.end()));
  }
  return lines;
}

// Hands over the vectors of the lines in their order, and says at the end how many were cut.
template <typename Take>
void EmbedLines(const TextEncoder& encoder, const std::vector<TextLine>& lines, Take take) {
  int64_t cut = 0;
  ProgressBar bar(stderr);
  for (size_t at = 0; at < lines.size(); at += TextEncoder::kTextsAtOnce) {
    std::vector<Encoder::Tokens> tokens;
    const size_t end = std::min(at + TextEncoder::kTextsAtOnce, lines.size());
    for (size_t i = at; i < end; ++i) {
      TextEncoder::Encoded encoded = encoder.Encode(lines[i].text);
      cut += encoded.cut ? 1 : 0;
      tokens.push_back(std::move(encoded.tokens));
    }
    const std::vector<std::vector<float>> vectors = encoder.EmbedTokens(tokens);
    bar.Show("embedding", static_cast<int64_t>(at + tokens.size()), std::ssize(lines));
    take(at, vectors);
  }
  bar.Erase();
  if (cut == 0) return;
  fmt::print(stderr,
             "hone: {} of {} texts {} longer than the {} tokens that the model takes; what is "
             "behind them is not seen\n",
             cut, lines.size(), cut == 1 ? "is" : "are", encoder.max_tokens());
}

std::string SimilarTable(const std::vector<TextLine>& lines,
                         const std::vector<SimilarVector>& similar) {
  const Terminal terminal = Terminal::Of(stdout);
  std::string table = terminal.Bold("similarity  text") + "\n";
  for (const SimilarVector& one : similar) {
    const TextLine& line = lines[one.index];
    const std::string place =
        line.file.empty() ? "" : fmt::format("  ({}:{})", Printable(line.file), line.line);
    const std::string text = Printable(line.text);
    const int room = terminal.width - 12 - Columns(place);
    table += fmt::format("{:10.4f}  {}{}\n", one.similarity,
                         Columns(text) > room && room > 20 ? Fitted(text, room) : text,
                         terminal.Dim(place));
  }
  return table;
}

std::string SimilarJson(const std::string& query, const std::vector<TextLine>& lines,
                        const std::vector<SimilarVector>& similar) {
  Json::Array results;
  for (const SimilarVector& one : similar) {
    const TextLine& line = lines[one.index];
    results.push_back(Json::Of({{"similarity", one.similarity},
                                {"text", line.text},
                                {"file", line.file.empty() ? Json() : Json(line.file)},
                                {"line", line.line}}));
  }
  return DumpJson(Json::Of({{"query", query}, {"results", std::move(results)}})) + "\n";
}

Result<std::string> RunEmbed(const EmbedArguments& arguments, CommandContext* context) {
  HONE_RETURN_IF_ERROR(CheckTextLine("--similar", arguments.query));
  HONE_ASSIGN_OR_RETURN(const auto encoder,
                        TextEncoder::Open(arguments.model, static_cast<int>(arguments.threads)));
  HONE_ASSIGN_OR_RETURN(const std::vector<TextLine> lines, TextsOf(arguments));
  if (lines.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "there are no texts: name files, give --text, or write lines to standard input");
  }
  if (arguments.query.empty()) {
    EmbedLines(*encoder, lines, [&](size_t at, const std::vector<std::vector<float>>& vectors) {
      std::string out;
      for (size_t i = 0; i < vectors.size(); ++i) {
        out +=
            DumpJson(Json::Of({{"text", lines[at + i].text}, {"vector", VectorJson(vectors[i])}})) +
            "\n";
      }
      Print(context, out);
    });
    return std::string();
  }
  std::vector<std::vector<float>> all;
  EmbedLines(*encoder, lines, [&](size_t, const std::vector<std::vector<float>>& vectors) {
    all.insert(all.end(), vectors.begin(), vectors.end());
  });
  HONE_ASSIGN_OR_RETURN(const auto query, encoder->Embed({&arguments.query, 1}));
  const auto similar = MostSimilar(query[0], all, static_cast<size_t>(arguments.top));
  return context->json ? SimilarJson(arguments.query, lines, similar)
                       : SimilarTable(lines, similar);
}

}  // namespace

void AddEmbed(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<EmbedArguments>();
  Command command =
      program.AddCommand("embed", "Turn texts into vectors, or find the texts most like another");
  command
      .AddOption("model", &arguments->model,
                 "a Hugging Face folder of a BERT-like encoder of texts")
      .Required();
  command.AddOption("files", &arguments->files,
                    "whose lines are the texts ('-' or none: standard input)");
  command.AddOption("--text", &arguments->texts, "a text; may repeat").OneAtATime();
  command.AddOption("--key", &arguments->key,
                    "lines are JSON objects, and the texts stand under this key");
  command.AddOption("--similar", &arguments->query,
                    "rank the texts by the cosine of their vectors with this text's");
  command.AddOption("--top", &arguments->top, "so many of them")
      .Between(1, 1'000'000)
      .ShowDefault();
  command.AddOption("--threads", &arguments->threads, "0: as many as the machine has")
      .Between(0, 1024)
      .ShowDefault();
  command.Footer(
      "Writes one line of JSON per text: {\"text\": ..., \"vector\": [...]}. See "
      "docs/embeddings.md.\nExamples:\n"
      "  hone embed models/all-MiniLM-L6-v2 notes.txt > vectors.jsonl\n"
      "  hone embed models/all-MiniLM-L6-v2 tools.jsonl --key description --similar \"send "
      "money\" --top 3\n");
  command.Action([=] { Finish(context.get(), RunEmbed(*arguments, context.get())); });
}

}  // namespace hone
