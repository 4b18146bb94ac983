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
    kDocument,  // the documents of this title
    kNothing,   // that there is none: a search for all words of this name
    kValue,     // this result of a computation
  };
  Kind kind = Kind::kDocument;
  std::string what;

  bool operator==(const Need&) const = default;
};

// {"document": "Ada Kell"}, {"nothing": "Ada Kell"}, {"value": "30883"}.
Json NeedToJson(const Need& need);
Result<Need> NeedFromJson(const Json& json);

// Whether this call brought it.
bool Brings(const Need& need, const Call& call, const ToolResult& result);

}  // namespace hone::study
