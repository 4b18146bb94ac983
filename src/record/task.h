#pragma once

#include <string>

#include "base/json.h"

namespace hone {

// One thing to be done, as the user's JSON Lines file says it.
struct Task {
  std::string id;
  Json messages = Json::Array();  // the conversation so far, OpenAI style; a plain prompt is one
  Json tools = Json::Array();     // OpenAI function schemas, nested or flat
  Json answer;                    // the gold answer; null when there is none
  Json reward;                    // how to score it; null: as the environment does
  Json metadata;                  // anything else, kept as it is

  bool operator==(const Task&) const = default;
};

// What the user asked for last; empty where nobody asked.
std::string RequestOf(const Task& task);

}  // namespace hone
