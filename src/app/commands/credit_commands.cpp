// hone credit explain, hone credit methods.

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/input.h"
#include "app/records.h"
#include "app/report.h"
#include "app/views/credit_view.h"
#include "base/file.h"
#include "credit/short_form.h"

namespace hone {
namespace {

struct ExplainArguments {
  std::string tree, method, against, tokenizer, html;
  int64_t number = 0;  // 0: the first
  int leaf = -1;
};

struct Loaded {
  ScoredTree record;
  CriticValues values;
  bool has_values = false;
};

// A tree of a run, a store or a file; or a group in the short form from a file ("-": standard
// input).
Result<Loaded> Load(const ExplainArguments& arguments) {
  const std::filesystem::path path = arguments.tree;
  if (arguments.tree == "-" || path.extension() == ".json" || path.extension() == ".jsonl") {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadInput(arguments.tree));
    const Result<std::vector<Json>> lines = ParseJsonLines(text);
    const Result<Json> whole = ParseJson(text);  // a short form may be written over several lines
    const Json* first = whole.ok() ? &*whole : nullptr;
    const int64_t number = std::max<int64_t>(arguments.number, 1);
    if (lines.ok() && number <= static_cast<int64_t>(lines->size())) {
      first = &(*lines)[static_cast<size_t>(number) - 1];
    }
    if (first != nullptr && IsShortForm(*first)) {
      Result<ShortGroup> group = ReadShortForm(*first);
      if (!group.ok()) return group.error().In(arguments.tree);
      return Loaded{std::move(group->record), std::move(group->values), group->has_values};
    }
    if (arguments.tree == "-") {
      return Error(ErrorCode::kInvalidArgument,
                   "standard input must hold a group in the short form; give trees as a file");
    }
  }
  HONE_ASSIGN_OR_RETURN(const Records records, Records::Open(path));
  int64_t number = arguments.number;
  if (number == 0) {
    // A store numbers its trees for good; the first one that is left need not be 1.
    HONE_ASSIGN_OR_RETURN(const auto trees, records.List(1));
    if (trees.empty()) return Error(ErrorCode::kNotFound, arguments.tree + ": there is no tree");
    number = trees[0].id;
  }
  HONE_ASSIGN_OR_RETURN(ScoredTree record, records.Read(number));
  return Loaded{std::move(record), {}, false};
}

Result<MethodCredit> CreditBy(const std::string& spec, const Loaded& loaded) {
  HONE_ASSIGN_OR_RETURN(const Method method, NewMethod(spec));
  const CreditInput input{&loaded.record, loaded.has_values ? &loaded.values : nullptr};
  HONE_ASSIGN_OR_RETURN(std::vector<Credit> credits,
                        AssignCredit(method, {&input, 1}, {.layers = true}));
  return MethodCredit{spec, std::move(credits[0])};
}

Result<std::string> Explain(const ExplainArguments& arguments, bool json) {
  HONE_ASSIGN_OR_RETURN(const Loaded loaded, Load(arguments));
  if (loaded.record.scores.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: the tree has no scores; score it first: hone pipe rewards < {} > "
                             "scored.jsonl",
                             arguments.tree, arguments.tree));
  }
  if (arguments.leaf >= static_cast<int>(loaded.record.tree.leaves.size())) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("there is no leaf {}; there are {}, counted from 0", arguments.leaf,
                             loaded.record.tree.leaves.size()));
  }
  std::vector<MethodCredit> credits;
  for (const std::string& spec : {arguments.method, arguments.against}) {
    if (spec.empty()) continue;
    HONE_ASSIGN_OR_RETURN(MethodCredit credit, CreditBy(spec, loaded));
    credits.push_back(std::move(credit));
  }
  HONE_ASSIGN_OR_RETURN(const auto tokenizer,
                        TokenizerOfRecords(arguments.tree, arguments.tokenizer));
  const CreditViewOptions options{.leaf = arguments.leaf};
  if (!arguments.html.empty()) {
    HONE_RETURN_IF_ERROR(WriteFileAtomic(
        arguments.html, CreditPage(loaded.record, credits, tokenizer.get(), options)));
    if (!json) return arguments.html + "\n";
  }
  if (!json) {
    return CreditView(loaded.record, credits, tokenizer.get(), Terminal::Of(stdout), options);
  }
  Json::Array methods;
  for (const MethodCredit& one : credits) {
    Json method = AdvantagesToShortForm(one.credit.advantages);
    method.Set("method", one.method);
    AddExplanation(one.credit, &method);
    methods.push_back(std::move(method));
  }
  return DumpJson(
             Json::Of({{"task", loaded.record.tree.task.id}, {"methods", std::move(methods)}})) +
         "\n";
}

}  // namespace

void AddCredit(Command program, std::shared_ptr<CommandContext> context) {
  Command credit = program.AddCommand("credit", "Show who earned what, token by token");
  credit.NeedsCommand();
  credit.Footer("Example:\n  hone credit explain runs/tour --method toolpo-split --against grpo\n");
  auto arguments = std::make_shared<ExplainArguments>();
  Command explain =
      credit.AddCommand("explain", "Show the tokens of a tree with the credit of each channel");
  explain
      .AddOption("tree", &arguments->tree,
                 "a run's folder, its store, a file of trees, or of a group in the short form")
      .Required();
  explain.AddOption("--method,-m", &arguments->method, "see hone credit methods").Required();
  explain.AddOption("--against", &arguments->against, "a second method, side by side");
  explain.AddOption("--tree,-n", &arguments->number, "which tree; absent: the first");
  explain.AddOption("--leaf", &arguments->leaf, "which leaf, counted from 0; absent: all");
  explain.AddOption("--tokenizer,-t", &arguments->tokenizer,
                    "to show tokens as text; by default the tokenizer.json beside the store");
  explain.AddOption("--html", &arguments->html, "write a page instead");
  explain.Footer(
      "Example:\n  hone credit explain runs/tour --method toolpo --against grpo --html "
      "credit.html\n");
  explain.Action([=] { Finish(context.get(), Explain(*arguments, context->json)); });

  AddCreditAudit(credit, context);

  Command methods = credit.AddCommand("methods", "List all methods of credit with their settings");
  methods.Footer("Each has a page in docs/algorithms.\nExample:\n  hone credit methods --json\n");
  methods.Action([=] {
    const std::vector<MethodSummary> list = ListMethods();
    Print(context.get(), context->json ? DumpJson(MethodsJson(list)) + "\n"
                                       : MethodsView(list, Terminal::Of(stdout)));
  });
}

}  // namespace hone
