#include "train/compare/comparison_ledger.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/json_fields.h"
#include "base/strings.h"

namespace hone {
namespace {

constexpr std::string_view kComparedCalls = "after/test/sampled";

Json SuccessOnly(const Json& groups) {
  Json shown{Json::Object()};
  for (const auto& [name, figures] : groups.AsObject()) {
    Json success;
    for (const char* key : {"success", "low", "high", "outcomes"}) {
      if (const Json* value = figures.Find(key)) success.Set(key, *value);
    }
    shown.Set(name, std::move(success));
  }
  return shown;
}

// Of an evaluation what reports read: figures over all tasks, success by family and environment,
// the outcome of every task, and the calls of every task where they are compared.
Json WithoutDetails(const Json& evaluations) {
  Json::Object kept;
  for (const auto& [name, evaluation] : evaluations.AsObject()) {
    Json shown;
    for (const char* key : {"tasks", "all", "outcomes"}) {
      if (const Json* value = evaluation.Find(key)) shown.Set(key, *value);
    }
    if (const Json* families = evaluation.Find("families")) {
      shown.Set("families", SuccessOnly(*families));
    }
    if (const Json* environments = evaluation.Find("environments")) {
      shown.Set("environments", SuccessOnly(*environments));
    }
    const Json* calls = evaluation.Find("calls_by_task");
    if (calls != nullptr && name == kComparedCalls) shown.Set("calls_by_task", *calls);
    kept.emplace_back(name, std::move(shown));
  }
  return Json(std::move(kept));
}

}  // namespace

Result<ComparisonLedger::Entries> ComparisonLedger::Read(const std::filesystem::path& file) {
  Entries entries;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return entries;
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const Result<std::vector<Json>> lines = ParseJsonLines(text);
  if (!lines.ok()) return lines.error().In(file.string());
  for (size_t i = 0; i < lines->size(); ++i) {
    const std::string place = fmt::format("{}, run {}", file.string(), i + 1);
    Entry entry;
    JsonErrors errors;
    Json run;
    {
      JsonFields fields((*lines)[i], "", &errors);
      fields.Required("recipe", &entry.recipe);
      fields.Required("evaluation", &entry.evaluation);
      fields.Required("run", &run);
    }
    if (const Result<void> read = errors.Check(); !read.ok()) return read.error().In(place);
    Result<ComparedRun> record = ComparedRunFromJson(run);
    if (!record.ok()) return record.error().In(place);
    entry.run = *std::move(record);
    const std::pair key(entry.run.arm, entry.run.seed);
    if (!entries.emplace(key, std::move(entry)).second) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("{}: {} with seed {} is there twice; remove one of the lines", place,
                               key.first, key.second));
    }
  }
  return entries;
}

Result<ComparisonLedger> ComparisonLedger::Open(std::filesystem::path file) {
  ComparisonLedger ledger(std::move(file));
  HONE_ASSIGN_OR_RETURN(ledger.entries_, Read(ledger.file_));
  return ledger;
}

const ComparedRun* ComparisonLedger::Find(const ComparisonFile& comparison,
                                          const PlannedRun& run) const {
  const auto found = entries_.find({comparison.arms[run.arm].name, run.seed});
  if (found == entries_.end() || found->second.recipe != run.hash ||
      found->second.evaluation != ContentHash(run.Evaluation())) {
    return nullptr;
  }
  return &found->second.run;
}

bool ComparisonLedger::HasAnother(const ComparisonFile& comparison, const PlannedRun& run) const {
  return entries_.contains({comparison.arms[run.arm].name, run.seed}) &&
         Find(comparison, run) == nullptr;
}

Result<void> ComparisonLedger::Keep(const ComparisonFile& comparison, const PlannedRun& run,
                                    const ComparedRun& record) {
  if (record.status != ComparedRun::Status::kFinished) return {};
  // Beside the file, which is replaced as a whole.
  HONE_ASSIGN_OR_RETURN(const FileLock lock, FileLock::Take(file_.string() + ".lock"));
  HONE_ASSIGN_OR_RETURN(entries_, Read(file_));
  Entry entry{run.hash, ContentHash(run.Evaluation()), record};
  if (record.evaluations.is_object()) entry.run.evaluations = WithoutDetails(record.evaluations);
  entry.run.folder.clear();  // it may be gone when this is read
  entries_.insert_or_assign({comparison.arms[run.arm].name, run.seed}, std::move(entry));
  std::string text;
  for (const auto& [key, kept] : entries_) {
    text += DumpJson(Json::Of({{"recipe", kept.recipe},
                               {"evaluation", kept.evaluation},
                               {"run", ToJson(kept.run)}})) +
            "\n";
  }
  return WriteFileAtomic(file_, text);
}

}  // namespace hone
