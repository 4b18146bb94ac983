#include "train/stages/sft_data.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "base/thread_pool.h"
#include "learn/sft.h"
#include "learn/training_group.h"
#include "rollout/demonstration.h"
#include "train/recipe_checks.h"

namespace hone {
namespace {

// What a set of conversations amounts to, for whoever watches.
struct Lengths {
  int64_t rows = 0, tokens = 0, imitated = 0, longest = 0, left_out = 0;

  void Add(const Tree& tree) {
    ++rows;
    const int64_t length = CountTokens(tree);
    tokens += length;
    longest = std::max(longest, length);
    for (const Node& node : tree.nodes) {
      if (node.author == Author::kPolicy) imitated += std::ssize(node.tokens);
    }
  }
};

double PartOf(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// Nothing where it is too long and may be left out.
Result<std::optional<Tree>> TreeOf(const ConversationMixture::Placed& placed, bool skip_too_long,
                                   const StageContext& context) {
  const int64_t positions = PositionsOf(context.recipe->model);
  const Result<Tree> tree = RowTree(*context.language.codec, placed.row, positions);
  if (!tree.ok()) return tree.error().In(placed.place);
  for (const NodeId end : SegmentEnds(*tree, tree->leaves[0].node)) {
    const auto length = std::ssize(TokensOf(*tree, PathTo(*tree, end)));
    if (positions == 0 || length <= positions) continue;
    if (skip_too_long) return std::optional<Tree>();
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: has {} tokens, and the model's context is {}; raise "
                             "model.fresh.positions, take it out, or write too_long = \"skip\"",
                             placed.place, length, positions));
  }
  return std::optional<Tree>(*tree);
}

// All of them, on all threads of the run; the error is that of the first row that has one.
Result<std::vector<std::optional<Tree>>> TreesOf(
    const std::vector<ConversationMixture::Placed>& rows, bool skip_too_long,
    const StageContext& context, ThreadPool* pool) {
  std::vector<std::optional<Tree>> trees(rows.size());
  std::vector<std::optional<Error>> errors(rows.size());
  pool->ParallelFor(rows.size(), 64, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      Result<std::optional<Tree>> tree = TreeOf(rows[i], skip_too_long, context);
      if (!tree.ok()) {
        errors[i] = tree.error();
      } else {
        trees[i] = *std::move(tree);
      }
    }
  });
  for (const std::optional<Error>& error : errors) {
    if (error) return *error;
  }
  return trees;
}

// What was measured of one set of rows, under names that begin so.
void AddFigures(const std::string& prefix, const ImitationFigures& figures, StepValues* values) {
  const auto add = [&](const char* name, double value) { (*values)[prefix + name] = value; };
  add("loss", figures.loss);
  add("bits_per_byte", figures.BitsPerByte());
  if (figures.calling > 0) {
    add("tools", PartOf(figures.right_tools, figures.calling));
    add("calls", PartOf(figures.right_calls, figures.calling));
    add("calling_turns", static_cast<double>(figures.calling));
  }
  if (figures.answering > 0) {
    add("without_calls", PartOf(figures.without_calls, figures.answering));
    add("same_answers", PartOf(figures.same_answers, figures.answering));
    add("answering_turns", static_cast<double>(figures.answering));
  }
}

}  // namespace

Result<Tree> RowTree(const TurnCodec& codec, const ConversationRow& row, int64_t positions) {
  if (!row.text.empty()) return TextTree(codec, row.text, positions);
  return ConversationTree(codec, row.conversation, row.imitated);
}

SftDataOptions ReadSftData(RecipeTable* table) {
  SftDataOptions options;
  MixtureOptions& mixture = options.mixture;
  table->ReadPaths("data", &mixture.files,
                   "conversations to be imitated, instead of demonstrations", PathUse::kInput);
  if (mixture.files.empty()) return options;
  table->Read("weights", &mixture.weights, "how often each file's rows come per epoch; none: once",
              AtLeast(0));
  if (!mixture.weights.empty() && mixture.weights.size() != mixture.files.size()) {
    table->Problem("weights", fmt::format("has {} numbers for {} files", mixture.weights.size(),
                                          mixture.files.size()));
    return options;
  }
  table->ReadPaths("held_out_data", &mixture.held_out_files,
                   "conversations that are measured and never imitated", PathUse::kInput);
  table->Read("held_out", &mixture.held_out, "share of the rows, where there is no such file",
              Between(0, 0.9));
  std::string too_long = "refuse";
  table->ReadChoice("too_long", &too_long, {"refuse", "skip"},
                    "what becomes of rows that do not fit the model's context");
  options.skip_too_long = too_long == "skip";
  table->Read("held_out_every", &options.held_out_every,
              "steps between measurements on held-out rows; 0: at the end", AtLeast(0));
  table->Read("held_out_turns", &options.held_out_turns,
              "of each file, drawn to see what is called, at most", AtLeast(0));
  Result<ConversationMixture> rows = ConversationMixture::Load(mixture);
  if (!rows.ok()) {
    table->Problem("data", rows.error().message());
    return options;
  }
  options.rows = std::make_shared<const ConversationMixture>(*std::move(rows));
  return options;
}

Result<SftData> SftData::Open(const SftDataOptions& options, const StageContext& context) {
  SftData data(options, context.recipe->run.seed);
  const auto threads = static_cast<int>(context.recipe->run.threads);
  ThreadPool pool(threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency()));
  Lengths lengths, measured;
  for (const auto& file : options.rows->files()) {
    HONE_ASSIGN_OR_RETURN(const std::vector<std::optional<Tree>> read,
                          TreesOf(file, options.skip_too_long, context, &pool));
    std::vector<Tree>& trees = data.trees_.emplace_back();
    for (const std::optional<Tree>& tree : read) {
      trees.push_back(tree ? ForImitation(*tree) : Tree());
      if (tree) lengths.Add(*tree);
      if (!tree) ++lengths.left_out;
    }
  }
  const auto& rows = options.rows->held_out();
  HONE_ASSIGN_OR_RETURN(std::vector<std::optional<Tree>> held,
                        TreesOf(rows, options.skip_too_long, context, &pool));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (held[i]) measured.Add(*held[i]);
    if (!held[i]) ++lengths.left_out;
    if (held[i]) data.held_out_[rows[i].kind].push_back(*std::move(held[i]));
  }
  if (lengths.rows == 0) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("every conversation is longer than the model's context of {} tokens",
                             PositionsOf(context.recipe->model)));
  }
  if (context.note) {
    context.note(fmt::format(
        "{} conversations, {} tokens ({:.0f} % of them imitated), {} on average, {} at most; {} "
        "held out{}",
        lengths.rows, lengths.tokens, 100 * PartOf(lengths.imitated, lengths.tokens),
        lengths.tokens / lengths.rows, lengths.longest, measured.rows,
        lengths.left_out == 0 ? ""
                              : fmt::format("; {} are too long and left out", lengths.left_out)));
  }
  return data;
}

const Tree* SftData::At(uint64_t position) {
  const auto [file, row] = order_.At(position);
  const Tree& tree = trees_[file][row];
  return tree.nodes.empty() ? nullptr : &tree;
}

Result<StepValues> SftData::Measure(const StageContext& context, int64_t call_tokens) const {
  HONE_ASSIGN_OR_RETURN(const Policy policy, context.PolicyAt(1, 0));
  StepValues values;
  ImitationFigures whole;
  for (const auto& [kind, trees] : held_out_) {
    HONE_ASSIGN_OR_RETURN(const ImitationFigures figures,
                          MeasureImitation(policy, trees, call_tokens, options_.held_out_turns));
    whole.Add(figures);
    if (held_out_.size() > 1) AddFigures("held_out/" + kind + "/", figures, &values);
  }
  AddFigures("held_out/", whole, &values);
  return values;
}

}  // namespace hone
