#include "tools/mcp/sse.h"

#include <utility>

namespace hone {

std::vector<SseEvent> SseReader::Feed(std::string_view bytes) {
  std::vector<SseEvent> events;
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (end == std::string_view::npos) break;
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    EndLine(&events);
  }
  return events;
}

void SseReader::EndLine(std::vector<SseEvent>* events) {
  std::string_view line = line_;
  if (std::exchange(first_line_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) {
    if (!data_.empty()) {
      data_.pop_back();
      events->push_back({type_.empty() ? "message" : type_, std::move(data_), id_});
    }
    type_.clear();
    data_.clear();
  } else {
    const size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "data") {
      data_.append(value).push_back('\n');
    } else if (field == "event") {
      type_ = value;
    } else if (field == "id" && value.find('\0') == std::string_view::npos) {
      id_ = value;
    }
  }
  line_.clear();
}

}  // namespace hone
