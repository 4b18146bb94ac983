#include "evaluate/kind_table.h"

#include <set>
#include <string_view>

#include <fmt/format.h>

namespace hone {
namespace {

struct Column {
  const char* title;
  const char* key;
  bool share;
};
constexpr Column kColumns[] = {
    {"success", "success", true},
    {"calls", "calls_per_task", false},
    {"needed", "gold_calls_per_task", false},
    {"needless", "needless_calls", true},
    {"missed", "missed_calls", true},
    {"unused", "unused_calls", true},
    {"unaided", "unaided", true},
    {"entropy", "entropy", false},
};

std::string CellOf(const Json* object, std::string_view key, bool share) {
  const Json* found = object == nullptr ? nullptr : object->Find(key);
  if (found == nullptr || !found->is_number()) return "-";
  return share ? fmt::format("{:.1f} %", 100 * found->AsDouble())
               : fmt::format("{:.2f}", found->AsDouble());
}

constexpr size_t kMostKinds = 12;

const Json* GroupsOf(const Json* evaluation) {
  if (evaluation == nullptr) return nullptr;
  const Json *kinds = evaluation->Find("kinds"), *families = evaluation->Find("families");
  const bool many = kinds != nullptr && kinds->is_object() && kinds->AsObject().size() > kMostKinds;
  const bool fewer = many && families != nullptr && families->is_object() &&
                     families->AsObject().size() > 1 &&
                     families->AsObject().size() < kinds->AsObject().size();
  return fewer ? families : kinds;
}

}  // namespace

KindTable KindTableOf(const Json* evaluation) {
  KindTable table;
  const Json* kinds = GroupsOf(evaluation);
  if (kinds == nullptr || !kinds->is_object()) return table;
  std::set<std::string> tools;
  bool known = false;
  for (const auto& [kind, figures] : kinds->AsObject()) {
    known = known || figures.Find("entropy") != nullptr || figures.Find("unaided") != nullptr;
    const Json* calls = figures.Find("calls_of_tools");
    if (calls == nullptr || !calls->is_object()) continue;
    for (const auto& [tool, count] : calls->AsObject()) tools.insert(tool);
  }
  if (!known) return table;
  for (const Column& column : kColumns) table.columns.emplace_back(column.title);
  for (const std::string& tool : tools) table.columns.push_back(tool);
  for (const auto& [kind, figures] : kinds->AsObject()) {
    KindTable::Row& row = table.rows.emplace_back();
    row.kind = kind;
    for (const Column& column : kColumns) {
      row.cells.push_back(CellOf(&figures, column.key, column.share));
    }
    const Json* calls = figures.Find("calls_of_tools");
    for (const std::string& tool : tools) {
      const std::string cell = CellOf(calls, tool, false);
      row.cells.push_back(cell == "-" ? "0.00" : cell);
    }
  }
  return table;
}

}  // namespace hone
