#include "engine/weights/weights_difference.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "engine/safetensors.h"

namespace hone {
namespace {

constexpr char kBaseKey[] = "base_model_name_or_path";  // of adapter_config.json

std::vector<int64_t> IndicesOf(int64_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> indices(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    indices[i] = flat % shape[i];
    flat /= shape[i];
  }
  return indices;
}

// The element at this offset: as a number, and its bits.
struct Element {
  std::string text;
  uint64_t bits = 0;
};
Element ElementAt(const TensorView& view, size_t offset) {
  Element element;
  const size_t size = DTypeSize(view.dtype);
  std::memcpy(&element.bits, view.bytes.data() + offset, size);  // little-endian, as the file
  if (view.dtype == DType::kI64 || view.dtype == DType::kI32) {
    element.text = fmt::format("{}", element.bits);
  } else {
    float value = 0;
    CopyAsF32({.dtype = view.dtype, .shape = {1}, .bytes = view.bytes.subspan(offset, size)},
              {&value, 1});
    element.text = fmt::format("{} (bits {:0{}x})", value, element.bits, 2 * size);
  }
  return element;
}

std::string ShapeText(const TensorView& view) {
  return fmt::format("{} [{}]", DTypeName(view.dtype), fmt::join(view.shape, ", "));
}

std::optional<WeightsDifference> CompareTensors(const std::string& name, const TensorView& derived,
                                                const TensorView* stored) {
  WeightsDifference difference{.tensor = name, .derived = ShapeText(derived)};
  if (stored == nullptr) {
    difference.stored = "not there";
    return difference;
  }
  if (derived.dtype != stored->dtype || derived.shape != stored->shape) {
    difference.stored = ShapeText(*stored);
    return difference;
  }
  const auto [at, other] =
      std::mismatch(derived.bytes.begin(), derived.bytes.end(), stored->bytes.begin());
  if (at == derived.bytes.end()) return std::nullopt;
  const size_t size = DTypeSize(derived.dtype);
  const auto flat = static_cast<size_t>(at - derived.bytes.begin()) / size;
  const Element a = ElementAt(derived, flat * size), b = ElementAt(*stored, flat * size);
  difference.element = IndicesOf(static_cast<int64_t>(flat), derived.shape);
  difference.derived = a.text;
  difference.stored = b.text;
  if (std::popcount(a.bits ^ b.bits) == 1) difference.bit = std::countr_zero(a.bits ^ b.bits);
  return difference;
}

// Whatever is in it.
Result<std::optional<WeightsDifference>> CompareBytes(const std::filesystem::path& derived,
                                                      const std::filesystem::path& stored) {
  HONE_ASSIGN_OR_RETURN(const std::string a, ReadFile(derived));
  const Result<std::string> b = ReadFile(stored);
  if (!b.ok()) {
    return std::optional(WeightsDifference{.derived = "there", .stored = b.error().message()});
  }
  if (a == *b) return std::optional<WeightsDifference>();
  const auto both = static_cast<std::ptrdiff_t>(std::min(a.size(), b->size()));
  const auto at = std::mismatch(a.begin(), a.begin() + both, b->begin()).first - a.begin();
  const auto text = [&](const std::string& bytes) {
    return static_cast<size_t>(at) < bytes.size()
               ? fmt::format("byte {} is {:02x}", at,
                             static_cast<unsigned char>(bytes[static_cast<size_t>(at)]))
               : fmt::format("{} bytes", bytes.size());
  };
  return std::optional(WeightsDifference{.derived = text(a), .stored = text(*b)});
}

// The order of members is no difference (it tells where a configuration was read from), nor is
// where adapters say their base lies.
Result<std::optional<WeightsDifference>> CompareJson(const std::filesystem::path& derived,
                                                     const std::filesystem::path& stored) {
  const auto read = [](const std::filesystem::path& file) -> Result<std::string> {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    HONE_ASSIGN_OR_RETURN(Json json, ParseJson(text));
    if (json.is_object() && json.Find(kBaseKey) != nullptr) json.Set(kBaseKey, Json());
    return DumpJson(json, JsonStyle::kCanonical);
  };
  const Result<std::string> a = read(derived), b = read(stored);
  if (a.ok() && b.ok() && *a == *b) return std::optional<WeightsDifference>();
  return CompareBytes(derived, stored);
}

Result<std::optional<WeightsDifference>> CompareSafetensors(const std::filesystem::path& derived,
                                                            const std::filesystem::path& stored,
                                                            int64_t* numbers) {
  HONE_ASSIGN_OR_RETURN(const SafetensorsFile a, SafetensorsFile::Open(derived));
  const Result<SafetensorsFile> b = SafetensorsFile::Open(stored);
  if (!b.ok()) {
    return std::optional(
        WeightsDifference{.derived = "can be read", .stored = b.error().message()});
  }
  for (const auto& [name, tensor] : a.tensors()) {
    *numbers += tensor.count();
    if (auto found = CompareTensors(name, tensor, b->Find(name))) return found;
  }
  // Equal tensors give equal files; what is left is in the header.
  return CompareBytes(derived, stored);
}

}  // namespace

std::string WeightsDifference::Place() const {
  std::string text = file;
  if (!tensor.empty()) text += ", " + tensor;
  if (!element.empty()) text += fmt::format("[{}]", fmt::join(element, ", "));
  if (bit >= 0) text += fmt::format(", bit {}", bit);
  return text;
}

Result<WeightsComparison> CompareWeights(const std::filesystem::path& derived,
                                         const std::filesystem::path& stored) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(derived, error), end;
       !error && entry != end; entry.increment(error)) {
    if (entry->is_regular_file()) files.push_back(entry->path().lexically_relative(derived));
  }
  if (error) {
    return Error(ErrorCode::kIo,
                 fmt::format("cannot read the folder {}: {}", derived.string(), error.message()));
  }
  std::sort(files.begin(), files.end());
  WeightsComparison comparison;
  for (const std::filesystem::path& file : files) {
    const std::filesystem::path a = derived / file, b = stored / file;
    HONE_ASSIGN_OR_RETURN(comparison.difference, file.extension() == ".safetensors"
                                                     ? CompareSafetensors(a, b, &comparison.numbers)
                                                 : file.extension() == ".json"
                                                     ? CompareJson(a, b)
                                                     : CompareBytes(a, b));
    if (!comparison.difference) continue;
    comparison.difference->file = file.string();
    break;
  }
  return comparison;
}

}  // namespace hone
