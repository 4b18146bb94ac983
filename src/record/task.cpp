#include "record/task.h"

namespace hone {

std::string RequestOf(const Task& task) {
  std::string request;
  if (!task.messages.is_array()) return request;
  for (const Json& message : task.messages.AsArray()) {
    const Json* role = message.Find("role");
    const Json* content = message.Find("content");
    if (role == nullptr || !role->is_string() || role->AsString() != "user") continue;
    if (content != nullptr && content->is_string()) request = content->AsString();
  }
  return request;
}

}  // namespace hone
