#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "serve/training/training_requests.h"

namespace hone {

// The numbers that clients give their calls, per model, so that a call which is sent twice is done
// once. Only models that were named to it have any. Not synchronised.
class NumberedCalls {
 public:
  // A model whose calls are numbered from now on. Few are kept: of others than `in_training` the
  // oldest goes.
  void Name(const std::string& model_id, std::string_view in_training);

  // The id of the call that this one repeats, whose body has this hash; an error where its number
  // was used otherwise.
  Result<std::optional<std::string>> Repeated(const ModelCall& call, const std::string& hash) const;
  // It was taken, under this id.
  void Add(const ModelCall& call, const std::string& hash, const std::string& request_id);

 private:
  struct Numbered {
    std::string hash, request_id;
  };
  struct Calls {
    std::string model_id;
    std::map<int64_t, Numbered> newest;
  };
  const Calls* Of(const std::string& model_id) const;

  std::deque<Calls> models_;  // the oldest first
};

}  // namespace hone
