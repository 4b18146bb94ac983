// Any bytes as a policy turn in every dialect, and any JSON as a conversation.

#include <cstdint>

#include "base/check.h"
#include "base/json.h"
#include "base/utf8.h"
#include "text/dialect.h"

namespace {

std::vector<std::unique_ptr<hone::Dialect>> AllDialects() {
  std::vector<std::unique_ptr<hone::Dialect>> dialects;
  for (const auto& [name, about] : hone::BuiltInDialects()) {
    if (name.ends_with(".toml") || name.starts_with("template:")) continue;
    dialects.push_back(hone::NewDialect(name).value());
  }
  return dialects;
}

void CheckParse(const hone::Dialect& dialect, std::string_view turn) {
  for (const auto end : {hone::TurnEnd::kEnded, hone::TurnEnd::kCut, hone::TurnEnd::kUnknown}) {
    const hone::ParsedTurn parsed = dialect.Parse(turn, end);
    CHECK(parsed.answer || !parsed.calls.empty() || !parsed.faults.empty());
    CHECK(!(parsed.answer && (!parsed.calls.empty() || !parsed.faults.empty())));
    CHECK(hone::IsUtf8(parsed.content) && hone::IsUtf8(parsed.reasoning));
    CHECK(!parsed.answer || hone::IsUtf8(*parsed.answer));
    size_t last = 0;
    for (const hone::ParsedCall& call : parsed.calls) {
      CHECK(call.range.begin >= last && call.range.begin < call.range.end &&
            call.range.end <= turn.size());
      CHECK(call.arguments.is_object());
      last = call.range.end;
    }
    for (const hone::ParsedFault& fault : parsed.faults) {
      CHECK(fault.range.begin <= fault.range.end && fault.range.end <= turn.size());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto dialects = AllDialects();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& dialect : dialects) CheckParse(*dialect, text);
  const auto json = hone::ParseJson(text);
  if (!json.ok()) return 0;
  const auto conversation = hone::ConversationFromJson(*json);
  if (!conversation.ok()) return 0;
  for (const auto& dialect : dialects) {
    const auto pieces = dialect->Render(*conversation);
    if (!pieces.ok()) continue;
    for (const hone::Piece& piece : *pieces) {
      CHECK(hone::IsUtf8(piece.text));
      for (const hone::ByteRange& range : piece.literal) CHECK(range.end <= piece.text.size());
    }
    (void)dialect->Continue("x", *conversation).ok();
  }
  return 0;
}
