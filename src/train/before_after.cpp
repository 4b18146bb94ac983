#include "train/before_after.h"

#include <algorithm>

#include <fmt/format.h>

#include "evaluate/measures.h"
#include "evaluate/policy_evaluation.h"

namespace hone {
namespace {

struct Pair {
  const Json* before = nullptr;
  const Json* after = nullptr;
};

Pair PairOf(const Json& evaluations, std::string_view split, std::string_view how) {
  return {evaluations.Find(fmt::format("before/{}/{}", split, how)),
          evaluations.Find(fmt::format("after/{}/{}", split, how))};
}

void Add(BeforeAfterRow row, BeforeAfterTable* table) {
  if (row.before || row.after) table->rows.push_back(std::move(row));
}

std::string AboutOf(std::string_view figure) {
  for (const FigureInfo& known : KnownFigures()) {
    if (known.name == figure) return known.about;
  }
  return "";
}

void AddFigure(std::string label, std::string_view figure, const Pair& pair, bool main, int indent,
               BeforeAfterTable* table) {
  Add({std::move(label), AboutOf(figure), FigureIn(pair.before, figure),
       FigureIn(pair.after, figure), main, indent},
      table);
}

int64_t TasksOf(const Json* evaluation) {
  const Json* tasks = evaluation == nullptr ? nullptr : evaluation->Find("tasks");
  return tasks != nullptr && tasks->is_integer() ? tasks->AsInteger() : 0;
}

// The same tasks with the tools taken away, where that was measured.
void AddWithoutTools(const Pair& without, BeforeAfterTable* table) {
  AddFigure("success without tools", "success", without, true, 0, table);
  const Json* some = without.after != nullptr ? without.after : without.before;
  AddFigure("where a tool is needed", "success_with_need", without, false, 1, table);
  AddFigure("where none is needed", "success_without_need", without, false, 1, table);
  const char* groups = GroupsIn(some, "families").empty() ? "kinds" : "families";
  const std::string word = GroupsIn(some, "families").empty() ? "kind " : "family ";
  for (const std::string& name : GroupsIn(some, groups)) {
    Add({word + name, "", GroupIn(without.before, groups, name),
         GroupIn(without.after, groups, name), false, 1},
        table);
  }
}

BeforeAfterTable TableOf(const Json& evaluations, const std::string& split, bool all) {
  const Pair sampled = PairOf(evaluations, split, "sampled");
  const Pair greedy = PairOf(evaluations, split, "greedy");
  BeforeAfterTable table{.split = split};
  table.tasks = std::max({TasksOf(sampled.before), TasksOf(sampled.after), TasksOf(greedy.after)});
  AddFigure("success, sampled", "success", sampled, true, 0, &table);
  if (all) {
    const Json* some = sampled.after != nullptr ? sampled.after : sampled.before;
    for (const std::string& name : GroupsIn(some, "environments")) {
      Add({"environment " + name, "", GroupIn(sampled.before, "environments", name),
           GroupIn(sampled.after, "environments", name), true, 1},
          &table);
    }
    for (const std::string& family : GroupsIn(some, "families")) {
      Add({"family " + family, "", GroupIn(sampled.before, "families", family),
           GroupIn(sampled.after, "families", family), false, 1},
          &table);
    }
  }
  AddFigure("success, greedy", "success", greedy, true, 0, &table);
  AddWithoutTools(PairOf(evaluations, split, kWithoutTools), &table);
  AddFigure("needless calls", "needless_calls", sampled, true, 0, &table);
  if (!all) return table;
  AddFigure("missed calls", "missed_calls", sampled, false, 0, &table);
  AddFigure("right tool", "which", sampled, false, 0, &table);
  AddFigure("right arguments", "how", sampled, false, 0, &table);
  AddFigure("calls per task", "calls", sampled, true, 0, &table);
  AddFigure("needed", "gold_calls", sampled, false, 1, &table);
  AddFigure("wasted", "wasted_calls", sampled, false, 1, &table);
  AddFigure("brought nothing", "unused_calls", sampled, false, 1, &table);
  AddFigure("done without a call", "unaided", sampled, false, 0, &table);
  AddFigure("tokens per task", "tokens", sampled, false, 0, &table);
  return table;
}

}  // namespace

std::vector<BeforeAfterTable> BeforeAndAfter(const Json& evaluations) {
  std::vector<BeforeAfterTable> tables;
  for (const char* split : {"test", "unseen-kinds", "unseen-phrases"}) {
    BeforeAfterTable table = TableOf(evaluations, split, tables.empty());
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace hone
