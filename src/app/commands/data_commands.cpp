// hone data: conversations in files, looked at before they are imitated.

#include <filesystem>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/input.h"
#include "app/played_runs.h"
#include "app/report.h"
#include "app/views/data_view.h"
#include "base/file.h"
#include "data/conversation_mixture.h"
#include "text/template_dialect.h"
#include "train/stages/sft_data.h"

namespace hone {
namespace {

struct DataArguments {
  std::vector<std::string> files;
  std::string file, out, model, dialect = "hermes";
  double held_out = 0.1;
  PlayedChoice played;
};

Result<ConversationFile> ReadAll(const DataArguments& arguments, KeepMessages keep) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadInput(arguments.file));
  return ReadConversations(text, keep);
}

// Every problem of every file; the exit status is 1 when there is one.
Result<std::string> CheckData(const DataArguments& arguments, CommandContext* context) {
  std::string text;
  Json::Array problems;
  int64_t rows = 0;
  for (const std::string& name : arguments.files) {
    HONE_ASSIGN_OR_RETURN(const std::string content, ReadInput(name));
    const ConversationFile file = ReadConversations(content);
    rows += std::ssize(file.rows);
    for (const RowProblem& problem : file.problems) {
      problems.push_back(
          Json::Of({{"file", name}, {"line", problem.line}, {"problem", problem.text}}));
      text += fmt::format("{}:{}: {}\n", name, problem.line, Printable(problem.text));
    }
  }
  if (!problems.empty()) context->exit_status = 1;
  const auto count = std::ssize(problems);
  if (context->json) {
    return DumpJson(Json::Of({{"conversations", rows}, {"problems", std::move(problems)}})) + "\n";
  }
  return text + fmt::format("{} {} can be imitated, {}\n", rows,
                            rows == 1 ? "conversation" : "conversations",
                            count == 0   ? "nothing is wrong"
                            : count == 1 ? "one thing is wrong"
                                         : fmt::format("{} things are wrong", count));
}

// How long the rows are in a model's tokens.
Result<Spread> TokensOf(const ConversationFile& file, const DataArguments& arguments) {
  HONE_ASSIGN_OR_RETURN(const Tokenizer tokenizer, Tokenizer::Load(arguments.model));
  HONE_ASSIGN_OR_RETURN(const auto dialect,
                        NewDialect(DialectIn(arguments.dialect, arguments.model)));
  HONE_ASSIGN_OR_RETURN(const TurnCodec codec, TurnCodec::New(dialect.get(), &tokenizer));
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < file.rows.size(); ++i) {
    const Result<Tree> tree = RowTree(codec, file.rows[i], /*positions=*/0);
    if (!tree.ok()) return tree.error().In(fmt::format("{}:{}", arguments.file, file.lines[i]));
    lengths.push_back(CountTokens(*tree));
  }
  return Spread::Of(std::move(lengths));
}

Result<std::string> DataStats(const DataArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const ConversationFile file, ReadAll(arguments, KeepMessages::kNo));
  DataStatistics statistics = StatisticsOf(file);
  if (!arguments.model.empty()) {
    HONE_ASSIGN_OR_RETURN(statistics.tokens, TokensOf(file, arguments));
  }
  return json ? DumpJson(DataJson(statistics)) + "\n" : DataView(statistics, Terminal::Of(stdout));
}

std::string Lines(const std::vector<Json>& rows) {
  std::string text;
  for (const Json& row : rows) text += DumpJson(row) + "\n";
  return text;
}

// To a file, with a word about it; or the rows themselves.
Result<std::string> Delivered(const std::vector<Json>& rows, const std::string& out,
                              const std::string& word, bool json) {
  if (out.empty()) return Lines(rows);
  HONE_RETURN_IF_ERROR(WriteFileAtomic(out, Lines(rows)));
  if (json) return DumpJson(Json::Of({{"out", out}, {"conversations", std::ssize(rows)}})) + "\n";
  return fmt::format("{}: {} conversations{}\n", out, rows.size(), word);
}

Result<std::string> ConvertData(const DataArguments& arguments, bool json) {
  std::error_code ignored;
  if (std::filesystem::is_directory(arguments.file, ignored)) {
    HONE_ASSIGN_OR_RETURN(const PlayedRun played,
                          ConversationsOfRun(arguments.file, arguments.played));
    if (played.conversations.empty()) {
      return Error(
          ErrorCode::kNotFound,
          fmt::format("none of the {} trajectories of {} became a conversation: {} did "
                      "not succeed (--all takes them, too), {} cannot be written as one",
                      played.trajectories, arguments.file, played.unwanted, played.unreadable));
    }
    return Delivered(played.conversations, arguments.out,
                     fmt::format(" of {} trajectories ({} did not succeed, {} cannot be written "
                                 "as one)",
                                 played.trajectories, played.unwanted, played.unreadable),
                     json);
  }
  HONE_ASSIGN_OR_RETURN(const ConversationFile file, ReadAll(arguments, KeepMessages::kYes));
  HONE_RETURN_IF_ERROR(NoProblems(file, arguments.file));
  return Delivered(file.messages, arguments.out, "", json);
}

Result<std::string> CutInTwo(const DataArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const ConversationFile file, ReadAll(arguments, KeepMessages::kYes));
  HONE_RETURN_IF_ERROR(NoProblems(file, arguments.file));
  std::vector<Json> parts[2];
  for (size_t i = 0; i < file.rows.size(); ++i) {
    parts[IsHeldOut(file.rows[i], arguments.held_out) ? 1 : 0].push_back(file.messages[i]);
  }
  const std::string names[2] = {arguments.out + "-train.jsonl", arguments.out + "-dev.jsonl"};
  Json::Array written;
  std::string text;
  for (size_t part = 0; part < 2; ++part) {
    HONE_RETURN_IF_ERROR(WriteFileAtomic(names[part], Lines(parts[part])));
    written.push_back(Json::Of({{"out", names[part]}, {"conversations", std::ssize(parts[part])}}));
    text += fmt::format("{}: {} conversations\n", names[part], parts[part].size());
  }
  return json ? DumpJson(Json(std::move(written))) + "\n" : text;
}

}  // namespace

void AddData(Command program, std::shared_ptr<CommandContext> context) {
  auto arguments = std::make_shared<DataArguments>();
  Command data = program.AddCommand("data", "Look at conversations before they are imitated");
  data.NeedsCommand();
  data.Footer(
      "Rows may be OpenAI's messages, ShareGPT, prompts with completions, Alpaca's, questions "
      "with\n"
      "calls, or plain text (docs/conversations.md); JSON Lines, or one JSON array.\n"
      "Example:\n  hone data check chats.jsonl\n");

  Command check = data.AddCommand("check", "Name every bad row with its line and the reason");
  check.AddOption("files", &arguments->files, "files of conversations; - is standard input")
      .Required();
  check.Footer(
      "Exit status: 0 nothing is wrong, 1 something is.\n"
      "Example:\n  hone data check chats.jsonl more.jsonl\n");
  check.Action([=] { Finish(context.get(), CheckData(*arguments, context.get())); });

  const auto one = [&](Command command) {
    command.AddOption("file", &arguments->file, "of conversations; - is standard input").Required();
  };
  Command stats = data.AddCommand("stats", "Say how many there are, how long, and what they call");
  one(stats);
  stats.AddOption("--model", &arguments->model, "a model's folder, to count in its tokens");
  stats.AddOption("--dialect", &arguments->dialect, "how it spells calls").ShowDefault();
  stats.Footer("Example:\n  hone data stats chats.jsonl --model models/Qwen2.5-0.5B-Instruct\n");
  stats.Action([=] { Finish(context.get(), DataStats(*arguments, context->json)); });

  Command convert =
      data.AddCommand("convert", "Write any shape, or a run's trajectories, as OpenAI's messages");
  convert
      .AddOption("file", &arguments->file,
                 "of conversations; or a run's folder, or that of hone serve --record")
      .Required();
  convert.AddOption("--out,-o", &arguments->out, "file to write; else standard output");
  convert.AddFlag("--all", &arguments->played.all, "of a run: also what did not succeed");
  convert.AddOption("--at-least", &arguments->played.at_least,
                    "of a run: what earned that much reward, instead of what succeeded");
  convert.AddOption("--dialect", &arguments->played.dialect,
                    "of a folder that does not say how its model spells calls");
  convert.Footer(
      "Example:\n  hone data convert sharegpt.json -o chats.jsonl\n"
      "  hone data convert runs/quickstart -o own.jsonl\n");
  convert.Action([=] { Finish(context.get(), ConvertData(*arguments, context->json)); });

  Command split = data.AddCommand("split", "Cut a file in two, by what the rows say");
  one(split);
  split.AddOption("--held-out", &arguments->held_out, "share of the rows")
      .Between(0.0, 0.9)
      .ShowDefault();
  split.AddOption("--out,-o", &arguments->out, "OUT-train.jsonl and OUT-dev.jsonl are written")
      .Required();
  split.Footer(
      "Rows that say the same stay together, and nobody moves when others are added.\n"
      "Example:\n  hone data split chats.jsonl --held-out 0.1 -o chats\n");
  split.Action([=] { Finish(context.get(), CutInTwo(*arguments, context->json)); });

  AddDistill(data, context);
  AddNeeds(data, context);
}

}  // namespace hone
