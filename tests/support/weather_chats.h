#pragma once

#include <string>

#include "base/json.h"

namespace hone {

// Conversations about the weather, one per line, all different, with a call each.
inline std::string WeatherChats(int rows) {
  static constexpr const char* kCities[] = {"Rome", "Oslo", "Lima", "Bonn"};
  std::string text;
  for (int i = 0; i < rows; ++i) {
    const std::string city = kCities[i % 4], warm = std::to_string(i);
    const Json call = Json::Of(
        {{"id", "c"},
         {"type", "function"},
         {"function",
          Json::Of({{"name", "weather"}, {"arguments", DumpJson(Json::Of({{"city", city}}))}})}});
    const Json::Array messages = {
        Json::Of({{"role", "user"}, {"content", "How warm is " + city + " now, " + warm + "?"}}),
        Json::Of({{"role", "assistant"}, {"content", Json()}, {"tool_calls", Json::Array{call}}}),
        Json::Of({{"role", "tool"}, {"tool_call_id", "c"}, {"content", warm}}),
        Json::Of({{"role", "assistant"}, {"content", warm + " degrees"}})};
    text += DumpJson(Json::Of({{"messages", messages}})) + "\n";
  }
  return text;
}

}  // namespace hone
