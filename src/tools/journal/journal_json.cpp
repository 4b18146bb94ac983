#include "tools/journal/journal_json.h"

#include <fmt/format.h>

#include "base/json_fields.h"
#include "record/record_json.h"

namespace hone {
namespace {

// The attempt that a result without any other story had.
Attempt OnlyAttempt(const ToolResult& result) {
  return {result.status, result.content, result.latency_us, result.injected};
}

Json HeadToJson(const CallIdentity& identity, const CallContent& content, Effect effect) {
  return Json::Of({{"format", kJournalLineFormat},
                   {"version", kJournalLineVersion},
                   {"run", identity.run},
                   {"task", identity.task},
                   {"path", identity.path},
                   {"turn", identity.turn},
                   {"call", identity.call},
                   {"environment_seed", content.environment_seed},
                   {"tool", content.tool},
                   {"arguments", content.arguments},
                   {"state_hash", content.state_hash},
                   {"effect", EffectName(effect)}});
}

void ReadEffect(const std::string& name, const std::string& path, JsonErrors* errors,
                Effect* effect) {
  const std::optional<Effect> known = EffectFromName(name);
  if (!known) {
    return errors->Add(path,
                       fmt::format("\"{}\" is not one of pure, reads, writes, irreversible", name));
  }
  *effect = *known;
}

}  // namespace

// In namespace hone, so that JsonFields finds it.
static void ReadJson(const Json& json, const std::string& path, JsonErrors* errors,
                     Attempt* attempt) {
  JsonFields fields(json, path, errors);
  fields.Optional("status", &attempt->status);
  fields.Optional("content", &attempt->content);
  fields.Optional("latency_us", &attempt->latency_us);
  fields.Optional("injected", &attempt->injected);
}

std::optional<Json> AttemptsToJson(const JournalEntry& entry) {
  if (entry.attempts.size() == 1 && entry.attempts[0] == OnlyAttempt(entry.result)) {
    return std::nullopt;
  }
  Json::Array list;
  for (const Attempt& attempt : entry.attempts) {
    Json json{Json::Object()};
    if (attempt.status != CallStatus::kOk) json.Set("status", CallStatusName(attempt.status));
    if (attempt.content != entry.result.content) json.Set("content", attempt.content);
    if (attempt.latency_us != 0) json.Set("latency_us", attempt.latency_us);
    if (!attempt.injected.empty()) json.Set("injected", attempt.injected);
    list.push_back(std::move(json));
  }
  return Json(std::move(list));
}

Result<void> AttemptsFromJson(const Json* json, JournalEntry* entry) {
  entry->attempts.clear();
  if (json == nullptr) {
    entry->attempts.push_back(OnlyAttempt(entry->result));
    return {};
  }
  JsonErrors errors;
  ReadJson(*json, "attempts", &errors, &entry->attempts);
  HONE_RETURN_IF_ERROR(errors.Check());
  for (size_t i = 0; i < entry->attempts.size(); ++i) {
    if (json->AsArray()[i].Find("content") == nullptr) {
      entry->attempts[i].content = entry->result.content;
    }
  }
  return {};
}

Json JournalLineToJson(const JournalEntry& entry) {
  Json json = HeadToJson(entry.identity, entry.content, entry.effect);
  json.Set("source", CallSourceName(entry.source));
  json.Set("result", ToolResultToJson(entry.result));
  if (std::optional<Json> attempts = AttemptsToJson(entry)) {
    json.Set("attempts", *std::move(attempts));
  }
  if (entry.session_lost) json.Set("session_lost", true);
  json.Set("recorded_ms", entry.recorded_ms);
  return json;
}

Json JournalLineToJson(const BegunCall& begun) {
  Json json = HeadToJson(begun.identity, begun.content, begun.effect);
  json.Set("begun", true);
  return json;
}

Result<JournalLine> JournalLineFromJson(const Json& json) {
  JsonErrors errors;
  JournalEntry entry;
  bool begun = false;
  const Json* attempts = nullptr;
  {
    JsonFields fields(json, "", &errors);
    std::string format, effect;
    int64_t version = 0;
    fields.Required("format", &format);
    fields.Required("version", &version);
    HONE_RETURN_IF_ERROR(errors.Check());
    if (format != kJournalLineFormat) {
      return Error(ErrorCode::kParse, fmt::format("\"format\" is \"{}\", but a call of a journal "
                                                  "has \"{}\"",
                                                  format, kJournalLineFormat));
    }
    if (version != kJournalLineVersion) {
      return Error(ErrorCode::kVersion, fmt::format("version {}, but this Hone knows {} only; "
                                                    "export it with the Hone that wrote it",
                                                    version, kJournalLineVersion));
    }
    fields.Required("run", &entry.identity.run);
    fields.Required("task", &entry.identity.task);
    fields.Required("path", &entry.identity.path);
    fields.Required("turn", &entry.identity.turn);
    fields.Required("call", &entry.identity.call);
    fields.Required("environment_seed", &entry.content.environment_seed);
    fields.Required("tool", &entry.content.tool);
    fields.Required("arguments", &entry.content.arguments);
    fields.Optional("state_hash", &entry.content.state_hash);
    fields.Required("effect", &effect);
    if (errors.ok()) ReadEffect(effect, "effect", &errors, &entry.effect);
    fields.Optional("begun", &begun);
    if (!begun) {
      fields.Required("source", &entry.source);
      fields.Required("result", &entry.result);
      attempts = fields.Take("attempts");
      fields.Optional("session_lost", &entry.session_lost);
      fields.Required("recorded_ms", &entry.recorded_ms);
    }
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  if (begun) {
    return JournalLine(
        BegunCall{std::move(entry.identity), std::move(entry.content), entry.effect});
  }
  HONE_RETURN_IF_ERROR(AttemptsFromJson(attempts, &entry));
  return JournalLine(std::move(entry));
}

}  // namespace hone
