// Any bytes as a JSON-RPC message, and as a stream of events that hold such messages: read or
// refused, what is read writes back to the same, and where a stream is cut changes nothing.

#include <cstdint>

#include "base/check.h"
#include "tools/mcp/json_rpc.h"
#include "tools/mcp/sse.h"

namespace {

void ReadMessage(std::string_view text) {
  const auto read = hone::ReadJsonRpc(text);
  const auto* message = std::get_if<hone::JsonRpcMessage>(&read);
  if (message == nullptr) {
    CHECK(!std::get<hone::JsonRpcProblem>(read).message.empty());
    return;
  }
  const std::string written = hone::WriteJsonRpc(*message);
  CHECK(written.find('\n') == std::string::npos);
  const auto again = hone::ReadJsonRpc(written);
  CHECK(std::holds_alternative<hone::JsonRpcMessage>(again));
  CHECK(std::get<hone::JsonRpcMessage>(again) == *message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ReadMessage(text);

  const std::vector<hone::SseEvent> whole = hone::SseReader().Feed(text);
  hone::SseReader reader;
  std::vector<hone::SseEvent> pieces;
  for (size_t i = 0, step = 0; i < size; i += step) {
    step = 1 + data[i] % 7;
    for (hone::SseEvent& event : reader.Feed(text.substr(i, step))) {
      pieces.push_back(std::move(event));
    }
  }
  CHECK(pieces == whole);
  for (const hone::SseEvent& event : whole) ReadMessage(event.data);
  return 0;
}
