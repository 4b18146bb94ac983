#include "data/attempt_log.h"

#include <cerrno>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"

namespace hone {
namespace {

constexpr std::string_view kFormat = "hone attempts";
constexpr int64_t kVersion = 1;

Json AttemptJson(const PlayedAttempt& attempt) {
  Json json = Json::Of({{"task", attempt.task},
                        {"sample", attempt.sample},
                        {"id", attempt.id},
                        {"ending", attempt.ending},
                        {"tokens", attempt.tokens}});
  if (attempt.success) json.Set("success", *attempt.success);
  if (attempt.reward) json.Set("reward", *attempt.reward);
  json.Set("conversation", attempt.conversation);
  return json;
}

std::optional<PlayedAttempt> AttemptOf(const Json& json) {
  PlayedAttempt attempt;
  const auto integer = [&](const char* key, int64_t* value) {
    const Json* found = json.Find(key);
    if (found == nullptr || !found->is_integer()) return false;
    *value = found->AsInteger();
    return true;
  };
  const auto text = [&](const char* key, std::string* value) {
    const Json* found = json.Find(key);
    if (found == nullptr || !found->is_string()) return false;
    *value = found->AsString();
    return true;
  };
  if (!json.is_object() || !integer("task", &attempt.task) || !integer("sample", &attempt.sample) ||
      !integer("tokens", &attempt.tokens) || !text("id", &attempt.id) ||
      !text("ending", &attempt.ending)) {
    return std::nullopt;
  }
  const Json *success = json.Find("success"), *reward = json.Find("reward"),
             *conversation = json.Find("conversation");
  if (success != nullptr && success->is_bool()) attempt.success = success->AsBool();
  if (reward != nullptr && reward->is_number()) attempt.reward = reward->AsDouble();
  if (conversation != nullptr) attempt.conversation = *conversation;
  return attempt;
}

Error Failed(const std::filesystem::path& file, std::string_view what) {
  return Error(ErrorCode::kIo, fmt::format("{}: {}: {}", file.string(), what,
                                           std::strerror(errno)));  // NOLINT: one thread
}

// The settings that differ, for a sentence: "seed is 2 there and 1 here".
std::string Differences(const Json& there, const Json& here) {
  std::string text;
  const auto shown = [](const Json* value) {
    return value == nullptr ? "absent" : DumpJson(*value);
  };
  for (const auto& [key, value] : here.AsObject()) {
    const Json* other = there.Find(key);
    if (other != nullptr && *other == value) continue;
    text += fmt::format("{}{} is {} there and {} here", text.empty() ? "" : ", ", key, shown(other),
                        shown(&value));
  }
  return text.empty() ? "its settings are others" : text;
}

Result<void> CheckHeader(const std::filesystem::path& file, const Json& header,
                         const Json& settings) {
  const Json *format = header.Find("format"), *version = header.Find("version"),
             *made_with = header.Find("settings");
  if (format == nullptr || *format != Json(kFormat) || version == nullptr ||
      *version != Json(kVersion) || made_with == nullptr || !made_with->is_object()) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{}:1: is no record of attempts; remove it or choose another --out",
                             file.string()));
  }
  if (*made_with == settings) return {};
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{} was begun otherwise: {}; remove it or choose another --out",
                           file.string(), Differences(*made_with, settings)));
}

}  // namespace

bool IsWanted(const PlayedAttempt& attempt, const AttemptChoice& choice) {
  if (choice.at_least) return attempt.reward && *attempt.reward >= *choice.at_least;
  if (attempt.success) return *attempt.success;
  return attempt.reward && *attempt.reward > 0;
}

Json AttemptSummary::ToJson() const {
  return Json::Of({{"attempts", attempts},
                   {"succeeded", succeeded},
                   {"tasks", tasks},
                   {"tasks_succeeded", tasks_succeeded},
                   {"unreadable", unreadable},
                   {"repeated", repeated},
                   {"tokens", tokens},
                   {"conversations", std::ssize(conversations)}});
}

Result<std::unique_ptr<AttemptLog>> AttemptLog::Open(const std::filesystem::path& file,
                                                     const Json& settings) {
  std::FILE* stream = std::fopen(file.c_str(), "ae");
  if (stream == nullptr) return Failed(file, "cannot be written to");
  auto log = std::unique_ptr<AttemptLog>(new AttemptLog(file, stream));
  if (::flock(::fileno(stream), LOCK_EX | LOCK_NB) != 0) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("{} is being written to by another process", file.string()));
  }
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  HONE_ASSIGN_OR_RETURN(const size_t whole, log->Read(text, settings));
  if (whole < text.size() && ::ftruncate(::fileno(stream), static_cast<off_t>(whole)) != 0) {
    return Failed(file, "cannot be cut where its last line was not finished");
  }
  if (whole == 0) {
    HONE_RETURN_IF_ERROR(
        log->Write(Json::Of({{"format", kFormat}, {"version", kVersion}, {"settings", settings}})));
  }
  return log;
}

Result<size_t> AttemptLog::Read(std::string_view text, const Json& settings) {
  size_t whole = 0;
  for (int64_t line = 1;; ++line) {
    const size_t end = text.find('\n', whole);
    if (end == text.npos) return whole;  // what follows was being written
    const Result<Json> json = ParseJson(text.substr(whole, end - whole));
    whole = end + 1;
    if (line == 1) {
      HONE_RETURN_IF_ERROR(CheckHeader(file_, json.ok() ? *json : Json(), settings));
      continue;
    }
    std::optional<PlayedAttempt> attempt = json.ok() ? AttemptOf(*json) : std::nullopt;
    if (!attempt) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("{}:{}: is no attempt; remove the line to go on without it",
                               file_.string(), line));
    }
    attempts_.insert_or_assign({attempt->task, attempt->sample}, *std::move(attempt));
  }
}

Result<void> AttemptLog::Write(const Json& json) {
  const std::string line = DumpJson(json) + "\n";
  if (std::fwrite(line.data(), 1, line.size(), stream_) != line.size() ||
      std::fflush(stream_) != 0 || ::fdatasync(::fileno(stream_)) != 0) {
    return Failed(file_, "could not be written to");
  }
  return {};
}

AttemptLog::~AttemptLog() { std::fclose(stream_); }

Result<void> AttemptLog::Add(PlayedAttempt attempt) {
  HONE_RETURN_IF_ERROR(Write(AttemptJson(attempt)));
  attempts_.insert_or_assign({attempt.task, attempt.sample}, std::move(attempt));
  return {};
}

std::vector<PlayedAttempt> AttemptLog::Attempts(int64_t tasks, int64_t samples) const {
  std::vector<PlayedAttempt> attempts;
  for (const auto& [place, attempt] : attempts_) {
    if (attempt.task < tasks && attempt.sample < samples) attempts.push_back(attempt);
  }
  return attempts;
}

AttemptSummary AttemptLog::Summarise(int64_t tasks, int64_t samples,
                                     const AttemptChoice& choice) const {
  AttemptSummary sum;
  std::set<int64_t> tried, done;
  std::set<std::pair<int64_t, std::string>> seen;
  for (const auto& [place, attempt] : attempts_) {
    if (attempt.task >= tasks || attempt.sample >= samples) continue;
    ++sum.attempts;
    sum.tokens += attempt.tokens;
    tried.insert(attempt.task);
    if (!IsWanted(attempt, choice)) continue;
    ++sum.succeeded;
    done.insert(attempt.task);
    if (attempt.conversation.is_null()) {
      ++sum.unreadable;
    } else if (!seen.emplace(attempt.task, DumpJson(attempt.conversation)).second) {
      ++sum.repeated;
    } else {
      sum.conversations.push_back(attempt.conversation);
    }
  }
  sum.tasks = std::ssize(tried);
  sum.tasks_succeeded = std::ssize(done);
  return sum;
}

}  // namespace hone
