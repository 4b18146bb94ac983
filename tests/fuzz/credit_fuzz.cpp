// Any bytes as a tree or a group in the short form: what Validate finds sound gets finite credit
// from every method, one number per policy token, or an error in words.

#include <cstdint>

#include "base/check.h"
#include "credit/methods.h"
#include "credit/short_form.h"
#include "record/record_json.h"
#include "record/validate.h"

namespace {

void Try(const hone::ScoredTree& record, const hone::CriticValues* values) {
  static const std::vector<hone::Method> methods = [] {
    std::vector<hone::Method> all;
    for (const std::string& name : hone::MethodNames()) all.push_back(*hone::NewMethod(name));
    return all;
  }();
  const hone::CreditInput input{&record, values};
  for (const hone::Method& method : methods) {
    auto credits = hone::AssignCredit(method, {&input, 1}, {.layers = true});
    if (!credits.ok()) {
      CHECK(!credits.error().message().empty());
      continue;
    }
    hone::ScoredTree out = record;
    out.advantages = std::move((*credits)[0].advantages);
    CHECK(hone::Validate(out).empty(), method.name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)hone::NewMethod(text.substr(0, 100)).ok();
  const auto json = hone::ParseJson(text);
  if (!json.ok()) return 0;
  if (hone::IsShortForm(*json)) {
    const auto group = hone::ReadShortForm(*json);
    // A number in the text can ask for millions of tokens: sound, but slow to try on every method.
    if (!group.ok() || hone::CountTokens(group->record.tree) > 10000) return 0;
    Try(group->record, group->has_values ? &group->values : nullptr);
    return 0;
  }
  const auto record = hone::RecordFromJson(*json);
  if (record.ok() && hone::Validate(*record).empty()) Try(*record, nullptr);
  return 0;
}
