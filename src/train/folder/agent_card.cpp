#include "train/folder/agent_card.h"

#include "base/file.h"
#include "base/json_fields.h"

namespace hone {

Json AgentCard::ToJson() const {
  Json json = Json::Of({{"format", "hone-agent"},
                        {"version", 1},
                        {"dialect", dialect},
                        {"tools_listed", tools_listed},
                        {"tools", Json::ArrayOf(tools)}});
  if (system) json.Set("system", *system);
  return json;
}

Result<std::optional<AgentCard>> ReadAgentCard(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kAgentFile;
  if (!Exists(file)) return std::optional<AgentCard>();
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error().In(file.string());
  AgentCard card;
  std::string format;
  int64_t version = 0;
  JsonErrors errors;
  {
    JsonFields fields(*json, "", &errors);
    fields.Required("format", &format);
    fields.Required("version", &version);
    fields.Required("dialect", &card.dialect);
    fields.Required("tools_listed", &card.tools_listed);
    fields.Required("tools", &card.tools);
    fields.Optional("system", &card.system);
  }
  if (const Result<void> read = errors.Check(); !read.ok()) return read.error().In(file.string());
  const std::string tagged = "tagged:";
  if (card.dialect == tagged + kDialectFile)
    card.dialect = tagged + (folder / kDialectFile).string();
  return std::optional<AgentCard>(std::move(card));
}

Result<void> WriteAgentCard(const AgentCard& card, const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  return WriteFileAtomic(folder / kAgentFile, DumpJson(card.ToJson(), JsonStyle::kPretty) + "\n");
}

AgentCard AgentCardOf(std::string dialect, const Json& messages, const Json& shown,
                      std::vector<std::string> known) {
  AgentCard card{.dialect = std::move(dialect), .tools = std::move(known)};
  card.tools_listed = card.tools.empty() || (shown.is_array() && !shown.AsArray().empty());
  const bool any = messages.is_array() && !messages.AsArray().empty();
  const Json* role = any ? messages.AsArray()[0].Find("role") : nullptr;
  const Json* content = any ? messages.AsArray()[0].Find("content") : nullptr;
  if (role != nullptr && *role == Json("system") && content != nullptr && content->is_string()) {
    card.system = content->AsString();
  }
  return card;
}

}  // namespace hone
