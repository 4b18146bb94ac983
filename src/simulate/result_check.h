#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/mutex.h"
#include "tools/tool_spec.h"

namespace hone {

// An answer's value: JSON where it is JSON, else a string of the text as it stands.
Json ValueOf(const std::string& content);

// Whether answers fit the output schemas of their tools. Thread-safe; schemas are compiled once.
class AnswerChecker {
 public:
  // What is wrong with the content of an answer that is no error; nothing when it fits, or when the
  // tool says nothing about its output.
  std::optional<std::string> Problem(const ToolSpec& spec, const std::string& content);

 private:
  struct Schema;
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<const Schema>> schemas_ HONE_GUARDED_BY(mutex_);  // by tool
};

}  // namespace hone
