#pragma once

#include <cstdint>
#include <string>

#include "base/recipe.h"

namespace hone {

// In which words a server is asked for turns.
enum class RemoteApi {
  kCompletions,  // POST {url}/completions, as vLLM and hone serve have it
  kSglang,       // POST /generate, SGLang's own
};

// [policy] of a recipe: who draws the turns of training.
//
//   [policy]
//   kind = "endpoint"                    # engine: the one that is trained draws
//   url = "http://127.0.0.1:8000/v1"
//   push = "disk"                        # never: the server keeps its weights
struct RemoteOptions {
  bool on = false;  // kind is "endpoint"
  RemoteApi api = RemoteApi::kCompletions;
  std::string url;           // up to and with the version
  std::string model;         // as the server calls it; empty: the only one that it has
  std::string key_variable;  // the environment variable that holds the key; empty: no key is sent
  int64_t concurrent = 64;   // turns that are asked for at a time
  int64_t deadline = 600;    // seconds of an attempt
  int64_t retries = 8;       // of a request that was refused or not answered
  bool push = true;          // the server gets the weights before each step
  std::string push_folder;   // where they are put for it; empty: in the run's folder
};

// Problems are reported by Recipe::Finish.
RemoteOptions ReadRemoteOptions(RecipeTable table);

}  // namespace hone
