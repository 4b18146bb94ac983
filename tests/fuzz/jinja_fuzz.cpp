// Any bytes as a chat template, with a conversation that has everything in it.

#include <cstdint>

#include "base/check.h"
#include "base/json.h"
#include "base/utf8.h"
#include "text/jinja/jinja.h"

namespace {

constexpr char kVariables[] = R"({"messages": [{"role": "system", "content": " a "},
    {"role": "user", "content": "é <|im_end|>"},
    {"role": "assistant", "content": null, "tool_calls": [{"id": "call00000",
        "function": {"name": "f", "arguments": {"x": 1, "y": [1.5, null, true]}}}]},
    {"role": "tool", "content": "{}", "name": "f"}], "tools": [{"function": {"name": "f"}}],
    "bos_token": "<s>", "add_generation_prompt": true, "n": 3, "s": "a,b,c", "l": [3, 1, 2]})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const hone::JinjaDict variables =
      hone::JinjaValue::FromJson(*hone::ParseJson(kVariables), true)->AsDict();
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const auto parsed = hone::JinjaTemplate::Parse(source);
  if (!parsed.ok()) {
    CHECK(!parsed.error().message().empty());
    return 0;
  }
  const hone::JinjaLimits limits{.work = 50'000, .output = 1 << 20, .depth = 200};
  const auto rendered = parsed->Render(variables, 0, limits);
  if (!rendered.ok()) {
    CHECK(rendered.error().message().starts_with("line "));
    return 0;
  }
  const hone::JinjaText& text = rendered->text;
  CHECK(hone::IsUtf8(text.view()));
  size_t last = 0;
  for (const hone::ByteRange& range : text.foreign()) {
    CHECK(range.begin >= last && range.begin < range.end && range.end <= text.size());
    last = range.end;
  }
  return 0;
}
