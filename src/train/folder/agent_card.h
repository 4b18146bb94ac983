#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace hone {

// How an agent was trained, for those who let it act later: agent.json, which lies in every
// checkpoint and is exported along. A model that is asked in another way than it was trained does
// not do what it has learned.
struct AgentCard {
  std::string dialect;                // how it spells calls
  bool tools_listed = true;           // whether its prompts showed the schemas of its tools
  std::vector<std::string> tools;     // that it knows
  std::optional<std::string> system;  // the message of the system that its prompts began with

  Json ToJson() const;
};
inline constexpr char kAgentFile[] = "agent.json";
// Of a dialect that a file describes: the file, beside the card.
inline constexpr char kDialectFile[] = "dialect.toml";

// Nothing where the folder has none; an error for one that cannot be read.
Result<std::optional<AgentCard>> ReadAgentCard(const std::filesystem::path& folder);
Result<void> WriteAgentCard(const AgentCard& card, const std::filesystem::path& folder);

// From what an agent sees first in such a run: OpenAI's messages and the schemas it is shown.
// `known` are the names of all tools that it may call.
AgentCard AgentCardOf(std::string dialect, const Json& messages, const Json& shown,
                      std::vector<std::string> known);

}  // namespace hone
