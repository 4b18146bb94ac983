// forward_backward as protobuf. The numbers of the fields are those of tinker_public.proto, which
// the Python package has.

#include <bit>
#include <cstring>

#include "base/bytes/protobuf.h"
#include "serve/training/training_requests.h"

namespace hone {
namespace {

Error NoProto(std::string_view what) {
  return Error(ErrorCode::kParse, "the body is no ForwardBackwardRequest: " + std::string(what));
}

// Calls `take` with every field of a message; false where one cannot be read or taken.
template <typename Take>
bool ForEachField(std::string_view message, const Take& take) {
  ProtoReader reader(message);
  while (!reader.AtEnd()) {
    const auto field = reader.Next();
    if (!field || !take(*field)) return false;
  }
  return true;
}

// Numbers of one size behind each other.
template <typename T, typename To>
bool TakeProtoNumbers(std::string_view bytes, std::vector<To>* to) {
  if (bytes.size() % sizeof(T) != 0) return false;
  for (size_t i = 0; i < bytes.size(); i += sizeof(T)) {
    T value{};
    std::memcpy(&value, bytes.data() + i, sizeof(T));
    to->push_back(static_cast<To>(value));
  }
  return true;
}

// Chunk: 1 encoded_text (1 tokens, int32 behind each other); pictures and sound are refused.
bool ReadProtoChunk(std::string_view message, std::vector<int64_t>* tokens) {
  return ForEachField(message, [&](const ProtoField& chunk) {
    return chunk.number == 1 && chunk.has_bytes &&
           ForEachField(chunk.text(), [&](const ProtoField& text) {
             return text.number != 1 ||
                    (text.has_bytes && TakeProtoNumbers<int32_t>(text.text(), tokens));
           });
  });
}

// Tensor: 1 dense, 2 sparse_csr, 3 dtype (1 float32, 2 int64), 4 shape.
bool ReadProtoTensor(std::string_view message, SentTensor* tensor) {
  uint64_t dtype = 0;
  std::string_view dense;
  const bool read = ForEachField(message, [&](const ProtoField& field) {
    switch (field.number) {
      case 1: dense = field.text(); return field.has_bytes;
      case 2: tensor->sparse = true; return true;
      case 3: dtype = field.value; return !field.has_bytes;
      case 4: {
        if (!field.has_bytes) {
          tensor->shape.push_back(static_cast<int64_t>(field.value));
          return true;
        }
        ProtoReader sizes(field.bytes);
        while (!sizes.AtEnd()) {
          const auto size = sizes.Varint();
          if (!size) return false;
          tensor->shape.push_back(static_cast<int64_t>(*size));
        }
        return true;
      }
      default: return true;
    }
  });
  if (!read) return false;
  if (dtype == 1) return TakeProtoNumbers<float>(dense, &tensor->values);
  return dtype == 2 && TakeProtoNumbers<int64_t>(dense, &tensor->values);
}

// A map's entry: 1 key, 2 value.
template <typename TakeValue>
bool ReadProtoEntry(std::string_view message, std::string* key, const TakeValue& take) {
  return ForEachField(message, [&](const ProtoField& field) {
    if (field.number == 1) *key = field.text();
    return field.number != 2 || take(field);
  });
}

// More than any loss has of inputs and of settings.
constexpr size_t kMostEntries = 16;

// Datum: 1 model_input (Chunk, repeated), 2 loss_fn_inputs (map of Tensor).
bool ReadProtoDatum(std::string_view message, SentDatum* datum) {
  return ForEachField(message, [&](const ProtoField& field) {
    if (field.number > 2) return true;
    if (!field.has_bytes) return false;
    if (field.number == 1) return ReadProtoChunk(field.text(), &datum->tokens);
    if (datum->inputs.size() == kMostEntries) return false;
    auto& input = datum->inputs.emplace_back();
    return ReadProtoEntry(field.text(), &input.first, [&](const ProtoField& value) {
      return value.has_bytes && ReadProtoTensor(value.text(), &input.second);
    });
  });
}

}  // namespace

// 1 model_id, 2 seq_id, 3 data, 4 loss_fn, 5 loss_fn_config (map of double), 6 forward_only.
Result<ForwardCall> ReadForwardProto(std::string_view body, const ModelConfig& model) {
  ForwardCall call;
  std::vector<SentDatum> data;
  std::string loss;
  LossSettings settings;
  std::string wrong = "it cannot be read";
  const bool read = ForEachField(body, [&](const ProtoField& field) {
    switch (field.number) {
      case 1: call.model_id = field.text(); return field.has_bytes;
      case 2: call.seq_id = static_cast<int64_t>(field.value); return !field.has_bytes;
      case 3:
        if (field.has_bytes && ReadProtoDatum(field.text(), &data.emplace_back())) return true;
        wrong = "data[" + std::to_string(data.size() - 1) +
                "] is no datum of encoded text and tensors of float32 or int64";
        return false;
      case 4: loss = field.text(); return field.has_bytes;
      case 5: {
        if (settings.size() == kMostEntries) return false;
        auto& setting = settings.emplace_back();
        return field.has_bytes &&
               ReadProtoEntry(field.text(), &setting.first, [&](const ProtoField& value) {
                 setting.second = std::bit_cast<double>(value.value);
                 return !value.has_bytes;
               });
      }
      case 6: call.backward = field.value == 0; return !field.has_bytes;
      default: return true;
    }
  });
  if (!read) return NoProto(wrong);
  HONE_ASSIGN_OR_RETURN(call.loss, TokenLossNamed(loss, settings));
  HONE_ASSIGN_OR_RETURN(call.data, SequencesOf(data, call.loss, model));
  return call;
}

}  // namespace hone
