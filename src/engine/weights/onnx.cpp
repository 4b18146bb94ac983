#include "engine/weights/onnx.h"

#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/bytes/protobuf.h"
#include "engine/bfloat16.h"

namespace hone {
namespace {

using OnnxBytes = std::span<const std::byte>;

Error OnnxDamaged() { return Error(ErrorCode::kCorrupt, "not an ONNX file, or a damaged one"); }

size_t SizeOfOnnxType(OnnxType type) {
  switch (type) {
    case OnnxType::kFloat: return 4;
    case OnnxType::kInt64: return 8;
    case OnnxType::kFloat16:
    case OnnxType::kBfloat16: return 2;
    default: return 1;
  }
}

// A tensor while it is read: its numbers are raw bytes, or a list of one of several types.
struct OnnxTensorDraft {
  std::string name;
  uint64_t type = 0;
  std::vector<int64_t> shape;
  OnnxBytes raw;
  std::vector<std::byte> listed;
  bool external = false;
};

// The numbers of a repeated field, one alone or several behind each other.
bool TakeVarints(const ProtoField& field, const auto& take) {
  if (!field.has_bytes) {
    take(field.value);
    return true;
  }
  ProtoReader reader(field.bytes);
  while (!reader.AtEnd()) {
    const auto value = reader.Varint();
    if (!value) return false;
    take(*value);
  }
  return true;
}

void AppendLow(uint64_t value, size_t size, std::vector<std::byte>* out) {
  for (size_t i = 0; i < size; ++i) out->push_back(static_cast<std::byte>(value >> (8 * i)));
}

bool ReadTensorField(const ProtoField& field, OnnxTensorDraft* draft) {
  enum : uint64_t {
    kDims = 1,
    kType = 2,
    kFloats = 4,
    kInt32s = 5,
    kInt64s = 7,
    kName = 8,
    kRaw = 9,
    kExternal = 13,
    kLocation = 14
  };
  // Numbers narrower than a list's own type are its low bytes.
  const auto type = static_cast<OnnxType>(draft->type);
  switch (field.number) {
    case kDims:
      return TakeVarints(
          field, [&](uint64_t size) { draft->shape.push_back(static_cast<int64_t>(size)); });
    case kType: draft->type = field.value; return true;
    case kName: draft->name = field.text(); return field.has_bytes;
    case kRaw: draft->raw = field.bytes; return field.has_bytes;
    case kFloats:
      if (field.has_bytes) {
        draft->listed.insert(draft->listed.end(), field.bytes.begin(), field.bytes.end());
      } else {
        AppendLow(field.value, 4, &draft->listed);
      }
      return true;
    case kInt32s:
      return TakeVarints(
          field, [&](uint64_t value) { AppendLow(value, SizeOfOnnxType(type), &draft->listed); });
    case kInt64s:
      return TakeVarints(field, [&](uint64_t value) { AppendLow(value, 8, &draft->listed); });
    case kExternal: draft->external = true; return true;
    case kLocation: draft->external |= field.value != 0; return true;
    default: return true;
  }
}

bool IsKnown(uint64_t type) {
  for (const OnnxType known : {OnnxType::kFloat, OnnxType::kUint8, OnnxType::kInt8,
                               OnnxType::kInt64, OnnxType::kFloat16, OnnxType::kBfloat16}) {
    if (static_cast<uint64_t>(known) == type) return true;
  }
  return false;
}

// The tensor with its name, or an empty name for one of a type that is left out.
Result<std::pair<std::string, OnnxTensor>> ReadTensor(OnnxBytes bytes) {
  OnnxTensorDraft draft;
  // The type comes first: the lists depend on it, and fields may stand in any order.
  for (const bool lists : {false, true}) {
    ProtoReader reader(bytes);
    while (!reader.AtEnd()) {
      const auto field = reader.Next();
      if (!field) return OnnxDamaged();
      const bool typed = field->number == 2;
      if (typed != lists && !ReadTensorField(*field, &draft)) return OnnxDamaged();
    }
  }
  if (draft.external) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("tensor {}: its numbers lie in another file", draft.name));
  }
  if (!IsKnown(draft.type)) return std::pair(std::string(), OnnxTensor());
  OnnxTensor tensor;
  tensor.type = static_cast<OnnxType>(draft.type);
  tensor.shape = std::move(draft.shape);
  tensor.bytes = draft.raw;
  if (draft.raw.empty()) {
    tensor.own = std::make_shared<const std::vector<std::byte>>(std::move(draft.listed));
    tensor.bytes = *tensor.own;
  }
  int64_t size = static_cast<int64_t>(SizeOfOnnxType(tensor.type));
  for (const int64_t length : tensor.shape) {
    if (length < 0 || __builtin_mul_overflow(size, length, &size)) return OnnxDamaged();
  }
  if (size != std::ssize(tensor.bytes)) {
    return Error(ErrorCode::kCorrupt, fmt::format("tensor {}: its shape does not fit its {} bytes",
                                                  draft.name, tensor.bytes.size()));
  }
  return std::pair(std::move(draft.name), std::move(tensor));
}

std::optional<OnnxNode> ReadNode(OnnxBytes bytes) {
  OnnxNode node;
  ProtoReader reader(bytes);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return std::nullopt;
    if (field->number > 4) continue;
    if (!field->has_bytes) return std::nullopt;
    std::string text(field->text());
    if (field->number == 1)
      node.inputs.push_back(std::move(text));
    else if (field->number == 2)
      node.outputs.push_back(std::move(text));
    else if (field->number == 3)
      node.name = std::move(text);
    else
      node.operation = std::move(text);
  }
  return node;
}

}  // namespace

int64_t OnnxTensor::count() const {
  return static_cast<int64_t>(bytes.size() / SizeOfOnnxType(type));
}

void OnnxTensor::CopyAsF32(std::span<float> out) const {
  CHECK(std::ssize(out) == count() && type != OnnxType::kInt64);
  if (type == OnnxType::kFloat) {
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (type == OnnxType::kUint8) {
      out[i] = static_cast<float>(static_cast<uint8_t>(bytes[i]));
    } else if (type == OnnxType::kInt8) {
      out[i] = static_cast<float>(static_cast<int8_t>(bytes[i]));
    } else {
      uint16_t bits = 0;
      std::memcpy(&bits, bytes.data() + 2 * i, 2);
      out[i] = type == OnnxType::kFloat16 ? FloatOfF16(bits) : FloatOfBf16(bits);
    }
  }
}

Result<void> OnnxFile::ReadGraph(std::span<const std::byte> bytes) {
  ProtoReader reader(bytes);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return OnnxDamaged();
    if (field->number == 1 && field->has_bytes) {
      auto node = ReadNode(field->bytes);
      if (!node) return OnnxDamaged();
      places_.emplace(node->name, nodes_.size());
      nodes_.push_back(*std::move(node));
    } else if (field->number == 5 && field->has_bytes) {
      HONE_ASSIGN_OR_RETURN(auto tensor, ReadTensor(field->bytes));
      if (!tensor.first.empty()) tensors_.insert(std::move(tensor));
    }
  }
  return {};
}

Result<OnnxFile> OnnxFile::Open(const std::filesystem::path& path) {
  OnnxFile file;
  file.name_ = path.string();
  HONE_ASSIGN_OR_RETURN(file.mapping_, MappedFile::Open(path));
  ProtoReader reader(file.mapping_->bytes());
  bool graph = false;
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field) return OnnxDamaged().In(file.name_);
    if (field->number != 7 || !field->has_bytes) continue;
    graph = true;
    if (Result<void> read = file.ReadGraph(field->bytes); !read.ok()) {
      return read.error().In(file.name_);
    }
  }
  if (!graph) return OnnxDamaged().In(file.name_);
  return file;
}

const OnnxTensor* OnnxFile::Find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

const OnnxNode* OnnxFile::FindNode(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &nodes_[found->second];
}

}  // namespace hone
