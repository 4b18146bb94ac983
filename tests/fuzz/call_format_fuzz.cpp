// Any bytes as a policy turn in every call format: what is read holds together, and of a turn that
// is cut off no more is read than of the whole.

#include <cstdint>

#include "base/check.h"
#include "base/utf8.h"
#include "text/call_format.h"

namespace {

std::vector<hone::CallFormat> AllFormats() {
  std::vector<hone::CallFormat> formats;
  for (const std::string& name : hone::CallFormatNames()) {
    formats.push_back(*hone::CallFormatOf(name));
  }
  return formats;
}

hone::ParsedTurn Checked(hone::CallFormat format, std::string_view turn, hone::TurnEnd end) {
  hone::ParsedTurn parsed = hone::ParseTurnIn(format, turn, {"<|im_end|>"}, end);
  CHECK(parsed.answer || !parsed.calls.empty() || !parsed.faults.empty());
  CHECK(!(parsed.answer && (!parsed.calls.empty() || !parsed.faults.empty())));
  CHECK(hone::IsUtf8(parsed.content) && hone::IsUtf8(parsed.reasoning));
  size_t last = 0;
  for (const hone::ParsedCall& call : parsed.calls) {
    CHECK(call.range.begin >= last && call.range.begin < call.range.end);
    CHECK(call.range.end <= turn.size());
    CHECK(call.name_range.begin <= call.name_range.end && call.name_range.end <= turn.size());
    CHECK(call.arguments_range.begin <= call.arguments_range.end);
    CHECK(call.arguments_range.end <= turn.size());
    CHECK(call.arguments.is_object() && hone::IsUtf8(call.name) && !call.name.empty());
    last = call.range.end;
  }
  for (const hone::ParsedFault& fault : parsed.faults) {
    CHECK(fault.range.begin <= fault.range.end && fault.range.end <= turn.size());
    CHECK(!fault.message.empty());
  }
  return parsed;
}

}  // namespace

// The first byte says how much of the rest is there.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto formats = AllFormats();
  if (size == 0) return 0;
  const std::string_view turn(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string_view part = turn.substr(0, turn.size() * data[0] / 255);
  for (const hone::CallFormat format : formats) {
    for (const auto end : {hone::TurnEnd::kEnded, hone::TurnEnd::kCut, hone::TurnEnd::kUnknown}) {
      (void)Checked(format, turn, end);
      (void)Checked(format, part, end);
    }
    (void)hone::MarksOf(format, turn);
  }
  (void)hone::NoteOnUnreadCall(turn);
  (void)hone::GuessCallFormat(turn);
  return 0;
}
