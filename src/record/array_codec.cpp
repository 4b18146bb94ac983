#include "record/array_codec.h"

#include <bit>
#include <cstring>
#include <memory>

#include <zstd.h>

namespace hone {
namespace {

static_assert(std::endian::native == std::endian::little, "the arrays are stored as they lie");

constexpr size_t kMaxBytes = size_t{2} << 30;
constexpr int kCompressionLevel = 3;

Error Corrupt(std::string_view what) { return Error(ErrorCode::kCorrupt, std::string(what)); }

class Writer {
 public:
  template <typename T>
  void Array(const std::vector<T>& values) {
    Number(values.size());
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  void Number(uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string Take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool Number(uint64_t* value) {
    if (bytes_.size() < sizeof *value) return false;
    std::memcpy(value, bytes_.data(), sizeof *value);
    bytes_.remove_prefix(sizeof *value);
    return true;
  }

  template <typename T>
  bool Array(std::vector<T>* values) {
    uint64_t count = 0;
    if (!Number(&count) || count > bytes_.size() / sizeof(T)) return false;
    values->resize(count);
    if (count > 0) std::memcpy(values->data(), bytes_.data(), count * sizeof(T));
    bytes_.remove_prefix(count * sizeof(T));
    return true;
  }

  bool AtEnd() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

bool ReadNode(Reader* reader, Node* node) {
  uint64_t supports = 0;
  if (!reader->Array(&node->tokens) || !reader->Array(&node->logprobs) ||
      !reader->Array(&node->entropies) || !reader->Array(&node->token_versions) ||
      !reader->Number(&supports) || (supports != 0 && supports != node->tokens.size())) {
    return false;
  }
  node->supports.resize(supports);
  for (Support& support : node->supports) {
    if (!reader->Array(&support.kept)) return false;
  }
  return true;
}

}  // namespace

std::string EncodeTreeArrays(const Tree& tree) {
  Writer writer;
  writer.Number(tree.nodes.size());
  for (const Node& node : tree.nodes) {
    writer.Array(node.tokens);
    writer.Array(node.logprobs);
    writer.Array(node.entropies);
    writer.Array(node.token_versions);
    writer.Number(node.supports.size());
    for (const Support& support : node.supports) writer.Array(support.kept);
  }
  return Compress(std::move(writer).Take());
}

Result<void> DecodeTreeArrays(std::string_view blob, Tree* tree) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, Decompress(blob));
  Reader reader(bytes);
  uint64_t nodes = 0;
  if (!reader.Number(&nodes) || nodes != tree->nodes.size()) {
    return Corrupt("the token arrays belong to another tree");
  }
  for (Node& node : tree->nodes) {
    if (!ReadNode(&reader, &node)) return Corrupt("the token arrays are damaged");
  }
  if (!reader.AtEnd()) return Corrupt("the token arrays are damaged");
  return {};
}

std::string EncodeAdvantages(const std::vector<Advantages>& advantages) {
  Writer writer;
  writer.Number(advantages.size());
  for (const Advantages& leaf : advantages) {
    writer.Number(static_cast<uint64_t>(leaf.leaf));
    writer.Array(leaf.values);
  }
  return Compress(std::move(writer).Take());
}

Result<std::vector<Advantages>> DecodeAdvantages(std::string_view blob) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, Decompress(blob));
  Reader reader(bytes);
  uint64_t count = 0;
  constexpr size_t kSmallestLeaf = 2 * sizeof(uint64_t);
  if (!reader.Number(&count) || count > bytes.size() / kSmallestLeaf) {
    return Corrupt("the advantages are damaged");
  }
  std::vector<Advantages> advantages(count);
  for (Advantages& leaf : advantages) {
    uint64_t index = 0;
    if (!reader.Number(&index) || index > INT32_MAX || !reader.Array(&leaf.values)) {
      return Corrupt("the advantages are damaged");
    }
    leaf.leaf = static_cast<int32_t>(index);
  }
  if (!reader.AtEnd()) return Corrupt("the advantages are damaged");
  return advantages;
}

std::string Compress(std::string_view bytes) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kCompressionLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
  CHECK(!ZSTD_isError(size), ZSTD_getErrorName(size));
  frame.resize(size);
  return frame;
}

Result<std::string> Decompress(std::string_view frame) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMaxBytes) {
    return Corrupt("not a compressed block of Hone's");
  }
  std::string bytes(size, '\0');
  const size_t written = ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size());
  if (ZSTD_isError(written) || written != size) return Corrupt("a compressed block is damaged");
  return bytes;
}

}  // namespace hone
