#include "serve/training/saved_weights.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_fields.h"

namespace hone {
namespace {

constexpr std::string_view kScheme = "tinker://";

std::string_view KindOf(bool for_sampler) { return for_sampler ? "sampler_weights" : "weights"; }

}  // namespace

std::string SavedPlace::Path() const {
  return fmt::format("{}{}/{}/{}", kScheme, model_id, KindOf(for_sampler), name);
}

std::filesystem::path SavedPlace::In(const std::filesystem::path& folder) const {
  return folder / model_id / KindOf(for_sampler) / name;
}

Result<void> CheckSavedName(std::string_view name) {
  constexpr size_t kLongest = 128;
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  // What is written stands beside the folder whose place it takes, under such a name.
  for (const std::string_view ending : {".unfinished", ".writing", ".old"}) {
    if (!name.ends_with(ending)) continue;
    return Error(
        ErrorCode::kInvalidArgument,
        fmt::format("path: names that end with {} are for folders that are being written", ending));
  }
  if (!name.empty() && name.size() <= kLongest && name.front() != '.' && name.back() != '.' &&
      std::all_of(name.begin(), name.end(), plain)) {
    return {};
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("path: wants a name of at most {} letters, digits, '-', '_' and '.', "
                           "with no '.' at either end",
                           kLongest));
}

Result<SavedPlace> ParseSavedPath(std::string_view path) {
  const auto wrong = [] {
    return Error(ErrorCode::kInvalidArgument,
                 "path: wants tinker://MODEL/weights/NAME or tinker://MODEL/sampler_weights/NAME");
  };
  if (!path.starts_with(kScheme)) return wrong();
  path.remove_prefix(kScheme.size());
  const size_t first = path.find('/');
  const size_t second = first == path.npos ? path.npos : path.find('/', first + 1);
  if (second == path.npos) return wrong();
  const std::string_view kind = path.substr(first + 1, second - first - 1);
  if (kind != KindOf(false) && kind != KindOf(true)) return wrong();
  SavedPlace place{.model_id = std::string(path.substr(0, first)),
                   .for_sampler = kind == KindOf(true),
                   .name = std::string(path.substr(second + 1))};
  HONE_RETURN_IF_ERROR(CheckSavedName(place.model_id));
  HONE_RETURN_IF_ERROR(CheckSavedName(place.name));
  return place;
}

std::string SavedCard::ToText() const {
  return DumpJson(Json::Of({{"base_model", base_model},
                            {"lora_rank", rank},
                            {"steps", steps},
                            {"version", version},
                            {"weights", weights}}),
                  JsonStyle::kPretty) +
         "\n";
}

Result<SavedCard> ReadSavedCard(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kSavedCardFile;
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error().In(file.string());
  SavedCard card;
  JsonErrors errors;
  {
    JsonFields fields(*json, "", &errors);
    fields.Required("base_model", &card.base_model);
    fields.Required("lora_rank", &card.rank);
    fields.Required("steps", &card.steps);
    fields.Required("version", &card.version);
    fields.Required("weights", &card.weights);
  }
  if (const auto read = errors.Check(); !read.ok()) return read.error().In(file.string());
  return card;
}

}  // namespace hone
