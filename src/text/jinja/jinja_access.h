#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/jinja/jinja_run.h"
#include "text/jinja/jinja_value.h"

// Getting at what values hold, by the rules of Jinja's sandbox.

namespace hone {

// value.name: an attribute or method if there is one, else the item of that name, else undefined.
// What would change a value is undefined, too: the sandbox forbids it.
Result<JinjaValue> GetMember(JinjaRun* run, const JinjaValue& value, std::string_view name);
// value[key]: the item if there is one, else the attribute, else undefined.
Result<JinjaValue> GetItem(JinjaRun* run, const JinjaValue& value, const JinjaValue& key);
// value[start:stop:step] of text, lists, tuples and ranges. None stands for what is left out.
Result<JinjaValue> GetSlice(JinjaRun* run, const JinjaValue& value, const JinjaValue& start,
                            const JinjaValue& stop, const JinjaValue& step);
// "a.b.0" as the filters' parameter `attribute` has it: one after the other, numbers as indices. A
// number is itself.
Result<JinjaValue> GetPath(JinjaRun* run, const JinjaValue& value, const JinjaValue& path);

// What a loop goes through: characters, items, keys. Uses iterators up.
Result<std::vector<JinjaValue>> Iterate(JinjaRun* run, const JinjaValue& value);
bool IsIterable(const JinjaValue& value);
// What len() gives; nothing when the value has no length.
std::optional<int64_t> LengthOf(const JinjaValue& value);

Error NotIterable(const JinjaValue& value);

}  // namespace hone
