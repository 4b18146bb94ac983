#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "record/call.h"

namespace hone::study {

// What a call has to bring that the answer of a task stands on.
struct Need {
  enum class Kind {
    kDocument,  // documents of this title
    kNothing,   // that there is none: a search for this name, with two words more at most
    kValue,     // this result of a computation: the last number that is printed
  };
  Kind kind = Kind::kDocument;
  std::string what;
  int64_t lines = 1;  // kDocument: of this title, at least

  bool operator==(const Need&) const = default;
};

// {"document": "Ada Kell"}, {"document": "Ada Kell", "lines": 2}, {"nothing": "Ada Kell"},
// {"value": "30883"}.
Json NeedToJson(const Need& need);
Result<Need> NeedFromJson(const Json& json);

// Whether this call brought it.
bool Brings(const Need& need, const Call& call, const ToolResult& result);

}  // namespace hone::study
