#include "engine/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "engine/bfloat16.h"
#include "engine/weights/file_aside.h"

namespace hone {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are read as they lie");

constexpr uint64_t kLongestHeader = 100 << 20;  // the reference implementation's own limit
constexpr size_t kHeaderAlignment = 8;

constexpr struct {
  DType dtype;
  std::string_view name;
  size_t size;
} kTypes[] = {{DType::kF32, "F32", 4},
              {DType::kF16, "F16", 2},
              {DType::kBF16, "BF16", 2},
              {DType::kI64, "I64", 8},
              {DType::kI32, "I32", 4}};

Error Bad(std::string message) { return Error(ErrorCode::kCorrupt, std::move(message)); }

// The number of elements, or nothing when it overflows or a dimension is negative.
std::optional<int64_t> ElementCount(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  return count;
}

// One entry of the header: {"dtype", "shape", "data_offsets"}.
Result<TensorView> ReadEntry(const Json& entry, std::span<const std::byte> data) {
  const Json *dtype = entry.Find("dtype"), *shape = entry.Find("shape"),
             *offsets = entry.Find("data_offsets");
  if (dtype == nullptr || !dtype->is_string() || shape == nullptr || !shape->is_array() ||
      offsets == nullptr || !offsets->is_array() || offsets->AsArray().size() != 2) {
    return Bad("its header entry is not {dtype, shape, data_offsets}");
  }
  TensorView view;
  const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                  [&](const auto& t) { return t.name == dtype->AsString(); });
  if (type == std::end(kTypes)) {
    return Error(
        ErrorCode::kUnsupported,
        fmt::format("its type {} is not one of F32, F16, BF16, I64, I32", dtype->AsString()));
  }
  view.dtype = type->dtype;
  for (const Json& size : shape->AsArray()) {
    if (!size.is_integer()) return Bad("its shape is not a list of integers");
    view.shape.push_back(size.AsInteger());
  }
  const auto begin = offsets->AsArray()[0].AsUint64(), end = offsets->AsArray()[1].AsUint64();
  if (!begin || !end || *begin > *end || *end > data.size()) {
    return Bad("its data lies outside of the file; the file is cut off or damaged");
  }
  const std::optional<int64_t> count = ElementCount(view.shape);
  uint64_t bytes = 0;
  if (!count || __builtin_mul_overflow(static_cast<uint64_t>(*count), type->size, &bytes) ||
      bytes != *end - *begin) {
    return Bad(fmt::format("its shape does not fit its {} bytes", *end - *begin));
  }
  view.bytes = data.subspan(*begin, *end - *begin);
  return view;
}

// Two tensors may not share bytes.
bool Overlap(const std::map<std::string, TensorView>& tensors, std::string* which) {
  std::vector<std::pair<const std::byte*, const std::string*>> order;
  for (const auto& [name, view] : tensors) {
    if (!view.bytes.empty()) order.emplace_back(view.bytes.data(), &name);
  }
  std::sort(order.begin(), order.end());
  for (size_t i = 1; i < order.size(); ++i) {
    const TensorView& before = tensors.at(*order[i - 1].second);
    if (before.bytes.data() + before.bytes.size() > order[i].first) {
      *which = *order[i].second;
      return true;
    }
  }
  return false;
}

// Where a tensor lies in a file that is being written.
struct TensorSpan {
  DType dtype = DType::kF32;
  const std::vector<int64_t>* shape = nullptr;
  uint64_t bytes = 0;
};

// What stands before the tensors: they follow in the order of their names.
Result<void> AppendHeader(const std::map<std::string, TensorSpan>& tensors,
                          const std::map<std::string, std::string>& metadata, FileAside* file) {
  Json header = Json::Object();
  if (!metadata.empty()) {
    Json strings = Json::Object();
    for (const auto& [key, value] : metadata) strings.Set(key, value);
    header.Set("__metadata__", std::move(strings));
  }
  uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    const uint64_t end = at + tensor.bytes;
    header.Set(name, Json::Of({{"dtype", DTypeName(tensor.dtype)},
                               {"shape", Json::ArrayOf(*tensor.shape)},
                               {"data_offsets", Json::Array{at, end}}}));
    at = end;
  }
  std::string text = DumpJson(header);
  while (text.size() % kHeaderAlignment != 0) text += ' ';
  const uint64_t header_size = text.size();
  HONE_RETURN_IF_ERROR(
      file->Append({reinterpret_cast<const char*>(&header_size), sizeof header_size}));
  return file->Append(text);
}

}  // namespace

std::string_view DTypeName(DType dtype) { return kTypes[static_cast<size_t>(dtype)].name; }
size_t DTypeSize(DType dtype) { return kTypes[static_cast<size_t>(dtype)].size; }

int64_t TensorView::count() const { return ElementCount(shape).value_or(0); }

void CopyAsF32(const TensorView& view, std::span<float> out) {
  CHECK(static_cast<int64_t>(out.size()) == view.count());
  if (view.dtype == DType::kF32) {
    if (!out.empty()) std::memcpy(out.data(), view.bytes.data(), view.bytes.size());
    return;
  }
  CHECK(view.dtype == DType::kBF16 || view.dtype == DType::kF16, "not a floating type");
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t bits;
    std::memcpy(&bits, view.bytes.data() + 2 * i, 2);
    out[i] = view.dtype == DType::kBF16 ? FloatOfBf16(bits) : FloatOfF16(bits);
  }
}

Result<SafetensorsFile> SafetensorsFile::Open(const std::filesystem::path& path) {
  const std::string name = path.string();
  HONE_ASSIGN_OR_RETURN(auto mapping, MappedFile::Open(path));
  const std::span<const std::byte> all = mapping->bytes();
  if (all.size() < sizeof(uint64_t)) {
    return Bad(name + ": not a safetensors file; it is too short");
  }
  uint64_t header_size = 0;
  std::memcpy(&header_size, all.data(), sizeof header_size);
  if (header_size > kLongestHeader || header_size > all.size() - sizeof header_size) {
    return Bad(name + ": not a safetensors file, or its beginning is cut off");
  }
  const std::string_view header(reinterpret_cast<const char*>(all.data()) + sizeof header_size,
                                header_size);
  Result<Json> json = ParseJson(header);
  if (!json.ok() || !json->is_object()) {
    return Bad(fmt::format("{}: its header is not a JSON object{}", name,
                           json.ok() ? "" : " (" + json.error().message() + ")"));
  }
  SafetensorsFile file;
  file.mapping_ = std::move(mapping);
  const auto data = all.subspan(sizeof header_size + header_size);
  for (const auto& [key, entry] : json->AsObject()) {
    if (key == "__metadata__") {
      if (!entry.is_object()) return Bad(name + ": __metadata__ is not an object");
      for (const auto& [item, value] : entry.AsObject()) {
        if (value.is_string()) file.metadata_[item] = value.AsString();
      }
      continue;
    }
    Result<TensorView> view = ReadEntry(entry, data);
    if (!view.ok()) return view.error().In(fmt::format("{}: tensor {}", name, key));
    file.tensors_.emplace(key, std::move(view).value());
  }
  if (std::string which; Overlap(file.tensors_, &which)) {
    return Bad(fmt::format("{}: tensor {}: shares bytes with another", name, which));
  }
  return file;
}

const TensorView* SafetensorsFile::Find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

Result<void> WriteSafetensors(const std::filesystem::path& path,
                              const std::map<std::string, TensorView>& tensors,
                              const std::map<std::string, std::string>& metadata) {
  std::map<std::string, TensorSpan> spans;
  for (const auto& [name, view] : tensors) {
    spans[name] = {view.dtype, &view.shape, view.bytes.size()};
  }
  HONE_ASSIGN_OR_RETURN(FileAside file, FileAside::Create(path));
  HONE_RETURN_IF_ERROR(AppendHeader(spans, metadata, &file));
  for (const auto& [name, view] : tensors) HONE_RETURN_IF_ERROR(file.Append(view.bytes));
  return file.Commit();
}

Result<void> WriteSafetensors(const std::filesystem::path& path,
                              const std::map<std::string, SafetensorsSource>& tensors,
                              const std::map<std::string, std::string>& metadata) {
  std::map<std::string, TensorSpan> spans;
  for (const auto& [name, source] : tensors) {
    const std::optional<int64_t> count = ElementCount(source.shape);
    CHECK(count.has_value(), "a tensor whose size has no number");
    spans[name] = {source.dtype, &source.shape,
                   static_cast<uint64_t>(*count) * DTypeSize(source.dtype)};
  }
  HONE_ASSIGN_OR_RETURN(FileAside file, FileAside::Create(path));
  HONE_RETURN_IF_ERROR(AppendHeader(spans, metadata, &file));
  for (const auto& [name, source] : tensors) {
    const Result<std::vector<std::byte>> bytes = source.bytes();
    if (!bytes.ok()) return bytes.error().In("tensor " + name);
    CHECK(bytes->size() == spans.at(name).bytes, "a tensor of another size than its shape");
    HONE_RETURN_IF_ERROR(file.Append(*bytes));
  }
  return file.Commit();
}

Result<CheckpointTensors> CheckpointTensors::Open(const std::filesystem::path& folder) {
  CheckpointTensors checkpoint;
  const auto index = folder / "model.safetensors.index.json", whole = folder / "model.safetensors";
  // Where both are there, the one file, as in transformers.
  std::error_code ignored;
  if (!std::filesystem::exists(index, ignored) || std::filesystem::exists(whole, ignored)) {
    HONE_ASSIGN_OR_RETURN(SafetensorsFile file, SafetensorsFile::Open(whole));
    checkpoint.tensors_ = file.tensors();
    checkpoint.files_.push_back(std::move(file));
    return checkpoint;
  }
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(index));
  Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error().In(index.string());
  const Json* map = json->Find("weight_map");
  if (map == nullptr || !map->is_object()) return Bad(index.string() + ": has no \"weight_map\"");
  std::map<std::string, size_t> shards;  // file name to place in files_
  for (const auto& [tensor, file_name] : map->AsObject()) {
    if (!file_name.is_string() || file_name.AsString().find('/') != std::string::npos) {
      return Bad(
          fmt::format("{}: tensor {}: its shard is not a file name", index.string(), tensor));
    }
    const std::string& name = file_name.AsString();
    if (!shards.contains(name)) {
      HONE_ASSIGN_OR_RETURN(SafetensorsFile shard, SafetensorsFile::Open(folder / name));
      shards[name] = checkpoint.files_.size();
      checkpoint.files_.push_back(std::move(shard));
    }
    const TensorView* view = checkpoint.files_[shards[name]].Find(tensor);
    if (view == nullptr) {
      return Bad(fmt::format("{}: tensor {} is missing, though the index says it is there",
                             (folder / name).string(), tensor));
    }
    checkpoint.tensors_.emplace(tensor, *view);
  }
  return checkpoint;
}

const TensorView* CheckpointTensors::Find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

}  // namespace hone
