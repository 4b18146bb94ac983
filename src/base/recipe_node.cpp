#include "base/recipe_node.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/file.h"

namespace hone::internal {
namespace {

using Kind = TomlValue::Kind;

constexpr int kMostLines = 10'000'000;  // of a file, in the order of problems
constexpr size_t kLongestChain = 100;   // of files that extend each other

// Takes the key out and says which file it names; empty: none.
Result<std::filesystem::path> TakeExtends(const std::filesystem::path& path, RecipeNode* root,
                                          std::string* where) {
  const auto found = root->members.find("extends");
  if (found == root->members.end()) return std::filesystem::path();
  const RecipeNode named = std::move(found->second);
  root->members.erase(found);
  *where = named.where;
  if (!named.Is(Kind::kScalar) || !named.scalar.is_string() || named.scalar.AsString().empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}: extends: wants the name of another recipe, relative to this "
                             "one, not {}",
                             named.where, named.KindName()));
  }
  return (path.parent_path() / named.scalar.AsString()).lexically_normal();
}

void Merge(RecipeNode over, const std::string& path, RecipeNode* base,
           std::vector<RecipeProblem>* problems) {
  const bool into_table = over.Is(Kind::kTable) && base->Is(Kind::kTable);
  const bool into_array = over.Is(Kind::kTable) && base->Is(Kind::kArray);
  if (!into_table && !into_array) {
    *base = std::move(over);
    return;
  }
  for (auto& [key, member] : over.members) {
    const std::string full = path.empty() ? key : path + "." + key;
    if (into_array) {
      if (RecipeNode* element = base->Element(key)) {
        Merge(std::move(member), full, element, problems);
      } else {
        problems->push_back(
            {member.order, fmt::format("{}: {}: {}", member.where, path, base->NoElement(key))});
      }
    } else if (const auto found = base->members.find(key); found != base->members.end()) {
      Merge(std::move(member), full, &found->second, problems);
    } else {
      base->members.emplace(key, std::move(member));
    }
  }
  // What is missing in a table is missed where it was written last.
  base->where = std::move(over.where);
  base->order = over.order;
}

}  // namespace

std::string_view RecipeNode::KindName() const {
  if (Is(Kind::kTable)) return "a table";
  return Is(Kind::kArray) ? "an array" : scalar.KindName();
}

RecipeNode* RecipeNode::Element(std::string_view key) {
  size_t place = 0;
  const auto [end, problem] = std::from_chars(key.data(), key.data() + key.size(), place);
  const bool whole = problem == std::errc() && end == key.data() + key.size();
  return whole && place < elements.size() ? &elements[place] : nullptr;
}

std::string RecipeNode::NoElement(std::string_view key) const {
  return fmt::format("there is no element \"{}\"; they are numbered from 0, and there are {}", key,
                     elements.size());
}

RecipeNode NodeOf(TomlValue value, const std::string& file, const std::string* where, int depth) {
  RecipeNode node;
  node.kind = value.kind;
  node.scalar = std::move(value.scalar);
  node.order = depth * kMostLines + std::min(value.line, kMostLines - 1);
  node.where = where != nullptr ? *where : fmt::format("{}:{}", file, value.line);
  if (where == nullptr) node.folder = std::filesystem::path(file).parent_path().string();
  for (auto& [key, member] : value.members) {
    node.members.emplace(key, NodeOf(std::move(member), file, where, depth));
  }
  for (TomlValue& element : value.elements) {
    node.elements.push_back(NodeOf(std::move(element), file, where, depth));
  }
  return node;
}

Result<RecipeNode> LoadRecipeNode(const std::filesystem::path& path,
                                  std::vector<RecipeProblem>* problems) {
  std::vector<RecipeNode> chain;  // each extends the next
  std::vector<std::filesystem::path> seen;
  std::string where;  // the line that names the file
  for (std::filesystem::path file = path; !file.empty();) {
    std::error_code ignored;
    const std::filesystem::path canonical = std::filesystem::weakly_canonical(file, ignored);
    if (std::find(seen.begin(), seen.end(), canonical) != seen.end()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: extends: {} in the end extends itself; one of the recipes "
                               "must stand alone",
                               where, file.string()));
    }
    if (seen.size() == kLongestChain) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: extends: more than {} recipes", where, kLongestChain));
    }
    if (!where.empty() && !std::filesystem::exists(file, ignored)) {
      return Error(ErrorCode::kNotFound,
                   fmt::format("{}: extends: there is no recipe {}; the name is relative to the "
                               "folder of the file that says it",
                               where, file.string()));
    }
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    HONE_ASSIGN_OR_RETURN(TomlValue document, ParseToml(text, file.string()));
    chain.push_back(
        NodeOf(std::move(document), file.string(), nullptr, static_cast<int>(seen.size())));
    chain.back().where = file.string();
    seen.push_back(canonical);
    HONE_ASSIGN_OR_RETURN(file, TakeExtends(file, &chain.back(), &where));
  }
  RecipeNode root = std::move(chain.back());
  for (size_t i = chain.size() - 1; i-- > 0;) Merge(std::move(chain[i]), "", &root, problems);
  return root;
}

}  // namespace hone::internal
