#include "base/recipe.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/recipe_node.h"

namespace hone {
namespace internal {

struct RecipeState {
  RecipeNode root;
  std::vector<RecipeProblem> problems;

  // Every value read, in reading order, for the resolved recipe.
  struct Entry {
    std::string table, key;
    Json value;
    bool is_default = true;
    std::string comment;
  };
  std::vector<Entry> resolved;
  std::vector<std::string> present;  // paths of tables that count by being there
  std::vector<RecipePath> paths;
  std::map<std::string, std::string> places;  // where paths lead that were carried elsewhere

  void Problem(const RecipeNode& at, std::string_view text) {
    problems.push_back({at.order, fmt::format("{}: {}", at.where, text)});
  }
};

}  // namespace internal

namespace {

using internal::RecipeNode;
using internal::RecipeState;

// Why a number is not in its range, or nothing.
std::optional<std::string> OutOfRange(double value, const Range& range) {
  if (!std::isfinite(value)) return "wants a finite number";
  const bool low = range.min_excluded ? value <= range.min : value < range.min;
  if (!low && value <= range.max) return std::nullopt;
  if (std::isfinite(range.max)) {
    return fmt::format("{} is out of range: {} to {} is allowed", value, range.min, range.max);
  }
  return fmt::format("{} is out of range: it must be {} {}", value,
                     range.min_excluded ? "greater than" : "at least", range.min);
}

// Each turns a node into a value or says what is wrong with it.
std::optional<std::string> Wants(std::string_view wanted, const RecipeNode& node) {
  return fmt::format("wants {}, not {}", wanted, node.KindName());
}

std::optional<std::string> FromNode(const RecipeNode& node, bool* value) {
  if (!node.Is(TomlValue::Kind::kScalar) || !node.scalar.is_bool()) {
    return Wants("true or false", node);
  }
  *value = node.scalar.AsBool();
  return std::nullopt;
}

std::optional<std::string> FromNode(const RecipeNode& node, std::string* value) {
  if (!node.Is(TomlValue::Kind::kScalar) || !node.scalar.is_string())
    return Wants("a string", node);
  *value = node.scalar.AsString();
  return std::nullopt;
}

std::optional<std::string> FromNode(const RecipeNode& node, int64_t* value, const Range& range) {
  if (!node.Is(TomlValue::Kind::kScalar) || !node.scalar.is_integer()) {
    return Wants("an integer", node);
  }
  if (auto problem = OutOfRange(static_cast<double>(node.scalar.AsInteger()), range))
    return problem;
  *value = node.scalar.AsInteger();
  return std::nullopt;
}

std::optional<std::string> FromNode(const RecipeNode& node, double* value, const Range& range) {
  if (!node.Is(TomlValue::Kind::kScalar) || !node.scalar.is_number())
    return Wants("a number", node);
  if (auto problem = OutOfRange(node.scalar.AsDouble(), range)) return problem;
  *value = node.scalar.AsDouble();
  return std::nullopt;
}

template <typename T, typename... Rest>
std::optional<std::string> FromArray(const RecipeNode& node, std::vector<T>* value,
                                     const Rest&... rest) {
  if (!node.Is(TomlValue::Kind::kArray)) return Wants("an array", node);
  std::vector<T> elements(node.elements.size());
  for (size_t i = 0; i < elements.size(); ++i) {
    if (auto problem = FromNode(node.elements[i], &elements[i], rest...)) {
      return fmt::format("element {}: {}", i, *problem);
    }
  }
  *value = std::move(elements);
  return std::nullopt;
}

// JSON's spelling of booleans, numbers, strings and arrays of them is nearly TOML's.
std::string TomlText(const Json& value) {
  if (value.kind() == Json::Kind::kReal && !std::isfinite(value.AsDouble())) {
    return std::isnan(value.AsDouble()) ? "nan" : value.AsDouble() > 0 ? "inf" : "-inf";
  }
  std::string text;
  for (const char c : DumpJson(value, JsonStyle::kSpaced)) {
    text += c == '\x7f' ? "\\u007f" : std::string(1, c);
  }
  return text;
}
template <typename T>
Json JsonOf(const T& value) {
  return Json(value);
}
template <typename T>
Json JsonOf(const std::vector<T>& value) {
  return Json::ArrayOf(value);
}

// The table at a path such as "stage[1].model", made where it is not there yet.
Json* TableAt(std::string_view path, Json* root) {
  Json* table = root;
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    std::string_view name = path.substr(0, dot);
    path.remove_prefix(std::min(dot + 1, path.size()));
    const size_t bracket = name.find('[');
    const bool element = bracket != std::string_view::npos;
    const std::string key(name.substr(0, bracket));
    if (table->Find(key) == nullptr) {
      table->Set(key, element ? Json(Json::Array()) : Json(Json::Object()));
    }
    table = &std::find_if(table->AsObject().begin(), table->AsObject().end(),
                          [&](const Json::Member& member) { return member.first == key; })
                 ->second;
    if (!element) continue;
    const size_t number = std::stoul(std::string(name.substr(bracket + 1)));
    Json::Array& elements = table->AsArray();
    while (elements.size() <= number) elements.push_back(Json::Object());
    table = &elements[number];
  }
  return table;
}

bool IsBareKey(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-';
  });
}

void ReportUnknown(const RecipeNode& node, const std::string& path, RecipeState* state) {
  const std::vector<std::string> known(node.known.begin(), node.known.end());
  for (const auto& [key, member] : node.members) {
    const std::string full = path.empty() ? key : path + "." + key;
    if (!node.known.contains(key)) {
      state->Problem(member, fmt::format("unknown key \"{}\"{}", full, DidYouMean(key, known)));
      continue;
    }
    if (member.passed_over) continue;
    if (member.Is(TomlValue::Kind::kTable)) ReportUnknown(member, full, state);
    for (size_t i = 0; i < member.elements.size(); ++i) {
      const RecipeNode& element = member.elements[i];
      if (!element.Is(TomlValue::Kind::kTable)) continue;
      ReportUnknown(element, fmt::format("{}[{}]", full, i), state);
    }
  }
}

}  // namespace

std::string RecipeTable::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

RecipeNode* RecipeTable::Take(std::string_view key) {
  if (node_ == nullptr) return nullptr;
  node_->known.emplace(key);
  const auto found = node_->members.find(key);
  return found == node_->members.end() ? nullptr : &found->second;
}

template <typename T, typename Convert>
void RecipeTable::ReadInto(std::string_view key, T* value, std::string_view comment,
                           Convert convert) {
  const T without = *value;
  if (RecipeNode* node = Take(key)) {
    if (auto problem = convert(*node, value)) {
      state_->Problem(*node, fmt::format("{}: {}", PathOf(key), *problem));
    }
  }
  state_->resolved.push_back(
      {path_, std::string(key), JsonOf(*value), *value == without, std::string(comment)});
}

void RecipeTable::Read(std::string_view key, bool* value, std::string_view comment) {
  ReadInto(key, value, comment, [](const RecipeNode& n, bool* v) { return FromNode(n, v); });
}

void RecipeTable::Read(std::string_view key, std::string* value, std::string_view comment) {
  ReadInto(key, value, comment, [](const RecipeNode& n, std::string* v) { return FromNode(n, v); });
}

void RecipeTable::Read(std::string_view key, int64_t* value, std::string_view comment,
                       Range range) {
  ReadInto(key, value, comment,
           [&](const RecipeNode& n, int64_t* v) { return FromNode(n, v, range); });
}

void RecipeTable::Read(std::string_view key, double* value, std::string_view comment, Range range) {
  ReadInto(key, value, comment,
           [&](const RecipeNode& n, double* v) { return FromNode(n, v, range); });
}

void RecipeTable::Read(std::string_view key, std::vector<std::string>* value,
                       std::string_view comment) {
  ReadInto(key, value, comment,
           [](const RecipeNode& n, std::vector<std::string>* v) { return FromArray(n, v); });
}

void RecipeTable::Read(std::string_view key, std::vector<double>* value, std::string_view comment,
                       Range range) {
  ReadInto(key, value, comment,
           [&](const RecipeNode& n, std::vector<double>* v) { return FromArray(n, v, range); });
}

void RecipeTable::ReadChoice(std::string_view key, std::string* value,
                             const std::vector<std::string>& choices, std::string_view comment) {
  ReadInto(key, value, comment,
           [&](const RecipeNode& node, std::string* chosen) -> std::optional<std::string> {
             std::string word;
             if (auto problem = FromNode(node, &word)) return problem;
             if (std::find(choices.begin(), choices.end(), word) == choices.end()) {
               // Refused; but the keys that hang on it are read as the word was meant, or they
               // would be called unknown because of it.
               if (const auto meant = Nearest(word, choices)) *chosen = *meant;
               return fmt::format("\"{}\" is not one of {}{}", word, fmt::join(choices, ", "),
                                  DidYouMean(word, choices));
             }
             *chosen = word;
             return std::nullopt;
           });
}

std::string RecipeTable::Found(const RecipeNode& node, const std::string& written, PathUse use) {
  if (written.empty() || written.find("://") != std::string::npos) return written;
  std::string place = written;
  const auto carried = state_->places.find(written);
  const std::filesystem::path beside = std::filesystem::path(node.folder) / written;
  if (carried != state_->places.end() && !node.folder.empty()) {
    place = carried->second;
  } else if (!node.folder.empty() && Exists(beside)) {
    place = beside.lexically_normal().string();
  }
  const bool known = std::any_of(state_->paths.begin(), state_->paths.end(),
                                 [&](const RecipePath& path) { return path.written == written; });
  if (!known && Exists(place)) state_->paths.push_back({written, place, use});
  return place;
}

void RecipeTable::ReadPath(std::string_view key, std::string* value, std::string_view comment,
                           PathUse use) {
  Read(key, value, comment);
  *value = PathAt(key, *value, use);
}

std::string RecipeTable::PathAt(std::string_view key, const std::string& written, PathUse use) {
  return Has(key) ? Found(node_->members.find(key)->second, written, use) : written;
}

void RecipeTable::ReadPaths(std::string_view key, std::vector<std::string>* value,
                            std::string_view comment, PathUse use) {
  Read(key, value, comment);
  for (std::string& one : *value) one = PathAt(key, one, use);
}

void RecipeTable::ReadCommand(std::string_view key, std::vector<std::string>* value,
                              std::string_view comment) {
  Read(key, value, comment);
  for (std::string& one : *value) {
    const std::string place = PathAt(key, one, PathUse::kPlace);
    std::error_code ignored;
    // Whole, for the program may be started in another folder.
    if (place != one && std::filesystem::is_regular_file(place, ignored)) {
      one = std::filesystem::absolute(place).lexically_normal().string();
    }
  }
}

RecipeTable RecipeTable::Table(std::string_view key) {
  RecipeNode* node = Take(key);
  if (node != nullptr && !node->Is(TomlValue::Kind::kTable)) {
    state_->Problem(*node, fmt::format("{}: {}", PathOf(key), *Wants("a table", *node)));
    node = nullptr;
  }
  return RecipeTable(state_, node, PathOf(key));
}

std::optional<RecipeTable> RecipeTable::OptionalTable(std::string_view key) {
  if (!Has(key)) return std::nullopt;
  state_->present.push_back(PathOf(key));
  return Table(key);
}

std::vector<RecipeTable> RecipeTable::Tables(std::string_view key) {
  RecipeNode* node = Take(key);
  std::vector<RecipeTable> tables;
  if (node == nullptr) return tables;
  if (!node->Is(TomlValue::Kind::kArray)) {
    state_->Problem(*node, fmt::format("{}: {}", PathOf(key), *Wants("an array of tables", *node)));
    return tables;
  }
  for (size_t i = 0; i < node->elements.size(); ++i) {
    RecipeNode& element = node->elements[i];
    const std::string path = fmt::format("{}[{}]", PathOf(key), i);
    if (element.Is(TomlValue::Kind::kTable)) {
      tables.push_back(RecipeTable(state_, &element, path));
      state_->present.push_back(path);
    } else {
      state_->Problem(element, fmt::format("{}: {}", path, *Wants("a table", element)));
    }
  }
  return tables;
}

void RecipeTable::PassOver(std::string_view key) {
  if (RecipeNode* node = Take(key)) node->passed_over = true;
}

bool RecipeTable::Has(std::string_view key) const {
  return node_ != nullptr && node_->members.contains(key);
}

bool RecipeTable::HasList(std::string_view key) const {
  return Has(key) && node_->members.find(key)->second.Is(TomlValue::Kind::kArray);
}

void RecipeTable::Problem(std::string_view key, std::string_view text) {
  const RecipeNode* at = node_ != nullptr ? node_ : &state_->root;
  if (Has(key)) at = &node_->members.find(key)->second;
  state_->Problem(*at, fmt::format("{}: {}", PathOf(key), text));
}

namespace {

// "tool[1]" is written [[tool]], "tool[1].limits" [tool.limits]: it belongs to the last [[tool]].
std::string HeaderOf(std::string_view path) {
  std::string name;
  bool inside = false;
  for (const char c : path) {
    if (c == '[') inside = true;
    if (!inside) name += c;
    if (c == ']') inside = false;
  }
  return path.ends_with(']') ? fmt::format("[[{}]]", name) : fmt::format("[{}]", name);
}

}  // namespace

Recipe::Recipe() : state_(std::make_unique<RecipeState>()) {}
Recipe::~Recipe() = default;
Recipe::Recipe(Recipe&&) noexcept = default;
Recipe& Recipe::operator=(Recipe&&) noexcept = default;

Result<Recipe> Recipe::Load(const std::filesystem::path& path) {
  Recipe recipe;
  HONE_ASSIGN_OR_RETURN(recipe.state_->root,
                        internal::LoadRecipeNode(path, &recipe.state_->problems));
  const std::filesystem::path places = path.parent_path() / kPlacesFile;
  if (!Exists(places) || !Exists(path.parent_path() / "recipe.hash")) return recipe;
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(places));
  const Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error().In(places.string());
  if (!json->is_object()) {
    return Error(ErrorCode::kCorrupt, fmt::format("{}: wants an object", places.string()));
  }
  for (const auto& [written, place] : json->AsObject()) {
    if (!place.is_string()) continue;
    recipe.state_->places[written] = (path.parent_path() / place.AsString()).string();
  }
  return recipe;
}

const std::vector<RecipePath>& Recipe::Paths() const { return state_->paths; }

Result<Recipe> Recipe::Parse(std::string_view text, std::string file_name) {
  HONE_ASSIGN_OR_RETURN(TomlValue document, ParseToml(text, file_name));
  Recipe recipe;
  recipe.state_->root = internal::NodeOf(std::move(document), file_name, nullptr);
  recipe.state_->root.where = file_name;
  return recipe;
}

void Recipe::Override(std::string_view assignment) {
  const std::string where = fmt::format("override {}", assignment);
  const size_t equals = assignment.find('=');
  RecipeNode* node = &state_->root;
  auto problem = [&](std::string_view text) {
    state_->problems.push_back(
        {std::numeric_limits<int>::max(), fmt::format("{}: {}", where, text)});
  };
  if (equals == std::string_view::npos || equals == 0) return problem("wants the form key=value");
  std::string_view path = assignment.substr(0, equals);
  constexpr int kDeepestKey = 100;
  if (std::count(path.begin(), path.end(), '.') >= kDeepestKey) return problem("nested too deeply");
  while (true) {
    const size_t dot = std::min(path.find('.'), path.size());
    const std::string_view key = path.substr(0, dot);
    if (!IsBareKey(key)) return problem("the key is not a dotted name");
    if (node->Is(TomlValue::Kind::kArray)) {
      RecipeNode* element = node->Element(key);
      if (element == nullptr) return problem(node->NoElement(key));
      node = element;
    } else if (node->Is(TomlValue::Kind::kTable)) {
      auto found = node->members.find(key);
      if (found == node->members.end()) {
        found = node->members.emplace(std::string(key), RecipeNode()).first;
        found->second.where = where;
        found->second.order = std::numeric_limits<int>::max();
      }
      node = &found->second;
    } else {
      return problem("the key goes through a value");
    }
    if (dot == path.size()) break;
    path.remove_prefix(dot + 1);
  }
  const std::string_view text = assignment.substr(equals + 1);
  if (Result<TomlValue> value = ParseTomlValue(text); value.ok()) {
    *node = internal::NodeOf(std::move(value).value(), "", &where);
  } else {
    *node = RecipeNode();
    node->kind = TomlValue::Kind::kScalar;
    node->scalar = Json(text);
    node->where = where;
  }
  node->order = std::numeric_limits<int>::max();
}

RecipeTable Recipe::Root() { return RecipeTable(state_.get(), &state_->root, ""); }

Result<void> Recipe::Finish() {
  ReportUnknown(state_->root, "", state_.get());
  if (state_->problems.empty()) return {};
  std::stable_sort(state_->problems.begin(), state_->problems.end(),
                   [](const auto& a, const auto& b) { return a.order < b.order; });
  std::string all;
  for (const auto& [order, text] : state_->problems) all += (all.empty() ? "" : "\n") + text;
  return Error(ErrorCode::kInvalidArgument, all);
}

std::string Recipe::Resolved() const {
  // Values of a table must stand together, before the next table's header.
  std::vector<std::string> tables;
  for (const auto& entry : state_->resolved) {
    if (std::find(tables.begin(), tables.end(), entry.table) == tables.end()) {
      tables.push_back(entry.table);
    }
  }
  std::stable_partition(tables.begin(), tables.end(), [](const auto& t) { return t.empty(); });
  std::string text;
  for (const std::string& table : tables) {
    if (!table.empty()) text += (text.empty() ? "" : "\n") + HeaderOf(table) + "\n";
    for (const auto& entry : state_->resolved) {
      if (entry.table != table) continue;
      text += fmt::format("{} = {}", entry.key, TomlText(entry.value));
      text += entry.comment.empty() ? "\n" : fmt::format("  # {}\n", entry.comment);
    }
  }
  return text;
}

Json Recipe::Values() const {
  Json values = Json::Object();
  for (const auto& entry : state_->resolved) {
    TableAt(entry.table, &values)->Set(entry.key, entry.value);
  }
  return values;
}

Json Recipe::Said() const {
  Json values = Json::Object();
  // First of all, so that each is there whatever it says.
  for (const std::string& path : state_->present) TableAt(path, &values);
  for (const auto& entry : state_->resolved) {
    if (!entry.is_default) TableAt(entry.table, &values)->Set(entry.key, entry.value);
  }
  return values;
}

}  // namespace hone
