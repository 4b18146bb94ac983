#include "train/folder/run_folder.h"

#include <algorithm>
#include <charconv>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_fields.h"
#include "engine/safetensors.h"
#include "train/folder/checksums.h"
#include "train/folder/run_inputs.h"

namespace hone {
namespace {

constexpr std::string_view kFormat = "hone-training";
constexpr int64_t kVersion = 1;
constexpr char kStateFile[] = "training.json", kLines[] = "metrics.jsonl";

// The number of "step-12"; nothing for another name.
std::optional<int64_t> StepOf(const std::string& name) {
  if (!name.starts_with("step-")) return std::nullopt;
  int64_t step = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 5, end, step);
  if (error != std::errc() || stop != end) return std::nullopt;
  return step;
}

// Steps that a folder is named after, ascending: checkpoints, and what is left of them.
std::vector<int64_t> NamedSteps(const std::filesystem::path& run) {
  std::vector<int64_t> steps;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(run / "checkpoints", error)) {
    if (const auto step = StepOf(entry.path().filename().string())) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

// What another version wrote, or the disk does not give, is nothing to put aside.
bool IsDamage(const Error& error) {
  return error.code() != ErrorCode::kVersion && error.code() != ErrorCode::kIo;
}

// Leaves the lines of steps before `first_step`; a last line that a kill cut off goes, too.
Result<void> CutLines(const std::filesystem::path& file, int64_t first_step,
                      const std::function<void(std::string_view)>& note) {
  if (!std::filesystem::exists(file)) return {};
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  std::string kept;
  int64_t unreadable = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string line = text.substr(begin, end - begin + 1);
    begin = end + 1;
    const Result<Json> json = ParseJson(std::string_view(line).substr(0, line.size() - 1));
    const Json* step = json.ok() ? json->Find("step") : nullptr;
    if (step == nullptr || !step->is_integer()) {
      ++unreadable;
    } else if (step->AsInteger() < first_step) {
      kept += line;
    }
  }
  if (kept == text) return {};
  if (unreadable > 0) {
    const std::filesystem::path copy = file.string() + ".damaged";
    HONE_RETURN_IF_ERROR(WriteFileAtomic(copy, text));
    if (note) {
      note(
          fmt::format("{} is damaged: {} of its lines cannot be read and are left out; {} has the "
                      "file as it was, and store.sqlite the numbers",
                      file.string(), unreadable, copy.string()));
    }
  }
  return WriteFileAtomic(file, kept);
}

Result<void> AppendLine(const std::filesystem::path& file, std::string line) {
  line += '\n';
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return ErrnoError("cannot write " + file.string());
  const ssize_t written = ::write(descriptor, line.data(), line.size());
  const Error error = ErrnoError("cannot write " + file.string());
  ::close(descriptor);
  if (written < 0) return error;
  if (static_cast<size_t>(written) < line.size()) {
    return Error(ErrorCode::kFull, "no space is left for " + file.string());
  }
  return {};
}

}  // namespace

double TrainingState::TotalOf(std::string_view name) const {
  const Json* total = totals.Find(name);
  return total == nullptr ? 0 : total->AsDouble();
}

void TrainingState::AddTotal(std::string_view name, double value) {
  totals.Set(name, TotalOf(name) + value);
}

void TrainingState::NoteAlarm(const AlarmEvent& event) {
  alarms.push_back(Json::Of({{"step", event.step},
                             {"run_step", step},
                             {"name", event.name},
                             {"severity", SeverityName(event.severity)},
                             {"message", event.message},
                             {"remedy", event.remedy}}));
}

void TrainingState::NextStage(bool practised) {
  const Json* left = practised ? stage_state.Find("curriculum") : nullptr;
  if (left != nullptr) curriculum = *left;
  ++stage;
  stage_step = 0;
  stage_state = Json();
  anchor = 0;
}

Result<void> TrainingState::NoteMadeBy(size_t made_in, const std::string& policy, bool found) {
  const std::string key = std::to_string(made_in);
  if (!found && made_by.Find(key) != nullptr) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("what stage {} made is no longer in the cache (run.cache), and the "
                             "policy that made it is gone; begin the run again under another name",
                             made_in + 1));
  }
  made_by.Set(key, policy);
  return {};
}

void TrainingState::BeginElsewhere() {
  curriculum = Json();  // its tasks may be others
  // The checkpoints that it would roll back to, or call its best, are not there.
  anchor = 0;
  best.reset();
  best_step = 0;
}

Json TrainingState::ToJson() const {
  Json json = Json::Of({{"format", kFormat},
                        {"version", kVersion},
                        {"stage", stage},
                        {"stage_step", stage_step},
                        {"step", step},
                        {"stage_state", stage_state},
                        {"totals", totals},
                        {"evaluations", evaluations},
                        {"alarms", alarms},
                        {"best", best ? Json(*best) : Json()},
                        {"best_step", best_step},
                        {"start", start},
                        {"anchor", anchor},
                        {"made_by", made_by}});
  if (!curriculum.is_null()) json.Set("curriculum", curriculum);
  return json;
}

Result<TrainingState> TrainingState::FromJson(const Json& json) {
  TrainingState state;
  std::string format;
  int64_t version = 0;
  Json alarms;
  JsonErrors errors;
  {
    JsonFields fields(json, "", &errors);
    fields.Required("format", &format);
    fields.Required("version", &version);
    fields.Required("stage", &state.stage);
    fields.Required("stage_step", &state.stage_step);
    fields.Required("step", &state.step);
    fields.Required("stage_state", &state.stage_state);
    fields.Required("totals", &state.totals);
    fields.Required("evaluations", &state.evaluations);
    fields.Optional("alarms", &alarms);
    fields.Required("best", &state.best);
    fields.Required("best_step", &state.best_step);
    fields.Optional("start", &state.start);
    fields.Optional("anchor", &state.anchor);  // older ones have none
    fields.Optional("made_by", &state.made_by);
    fields.Optional("curriculum", &state.curriculum);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  if (format != kFormat || version != kVersion) {
    return Error(ErrorCode::kVersion,
                 fmt::format("{} {} is not a training state that this program reads ({} {})",
                             format, version, kFormat, kVersion));
  }
  if (alarms.is_array()) state.alarms = alarms.AsArray();
  return state;
}

std::optional<int64_t> StepOfAlarm(const Json& alarm, int64_t first) {
  const Json *of_run = alarm.Find("run_step"), *of_stage = alarm.Find("step");
  if (of_run != nullptr && of_run->is_integer()) return of_run->AsInteger();
  if (of_stage != nullptr && of_stage->is_integer()) return first + of_stage->AsInteger();
  return std::nullopt;
}

bool IsCheckpoint(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / kStateFile, ignored);
}

Result<TrainingState> ReadTrainingState(const std::filesystem::path& checkpoint) {
  const std::filesystem::path file = checkpoint / kStateFile;
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const Result<Json> json = ParseJson(text);
  if (!json.ok()) return json.error().In(file.string());
  Result<TrainingState> state = TrainingState::FromJson(*json);
  if (!state.ok()) return state.error().In(file.string());
  return state;
}

Result<std::unique_ptr<RunFolder>> RunFolder::Open(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path / "checkpoints", error);
  if (error) {
    return Error(ErrorCode::kIo, fmt::format("cannot make the folder {}: {}; choose another with "
                                             "run.out=FOLDER",
                                             path.string(), error.message()));
  }
  HONE_ASSIGN_OR_RETURN(std::optional<FileLock> lock, FileLock::Try(path / "lock"));
  if (!lock) {
    return Error(ErrorCode::kUnavailable,
                 fmt::format("another process is training in {}; wait for it, or choose another "
                             "name with run.name=NAME",
                             path.string()));
  }
  std::unique_ptr<RunFolder> folder(new RunFolder(path, *std::move(lock)));
  // What a kill left half written.
  for (const auto& entry : std::filesystem::directory_iterator(path / "checkpoints")) {
    if (!StepOf(entry.path().filename().string())) std::filesystem::remove_all(entry.path(), error);
  }
  return folder;
}

std::filesystem::path RunFolder::CheckpointPath(int64_t step) const {
  return CheckpointIn(path_, step);
}

std::vector<int64_t> RunFolder::Checkpoints() const { return CheckpointsIn(path_); }

std::filesystem::path CheckpointIn(const std::filesystem::path& run, int64_t step) {
  return run / "checkpoints" / fmt::format("step-{}", step);
}

std::vector<int64_t> CheckpointsIn(const std::filesystem::path& run) {
  std::vector<int64_t> steps = NamedSteps(run);
  std::erase_if(steps, [&](int64_t step) { return !IsCheckpoint(CheckpointIn(run, step)); });
  return steps;
}

Result<void> CheckCheckpoint(const std::filesystem::path& checkpoint) {
  const Result<TrainingState> state = ReadTrainingState(checkpoint);
  if (!state.ok()) return state.error();
  HONE_RETURN_IF_ERROR(VerifyChecksums(checkpoint));
  // What an older program wrote without checksums may still be cut off.
  for (const char* name : {"model.safetensors", "training_state.safetensors"}) {
    const auto file = SafetensorsFile::Open(checkpoint / name);
    if (!file.ok()) return file.error();
  }
  const Result<Tokenizer> tokenizer = Tokenizer::Load(checkpoint);
  return tokenizer.ok() ? Result<void>() : Result<void>(tokenizer.error());
}

Result<std::filesystem::path> RunFolder::NewestSound(
    const std::function<void(std::string_view)>& note) {
  const std::vector<int64_t> steps = NamedSteps(path_);
  std::vector<std::pair<int64_t, Error>> damaged;  // the newest first
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const Result<void> sound = CheckCheckpoint(CheckpointPath(*step));
    if (!sound.ok() && !IsDamage(sound.error())) return sound.error();
    if (!sound.ok()) {
      damaged.emplace_back(*step, sound.error());
      continue;
    }
    for (const auto& [behind, why] : damaged) HONE_RETURN_IF_ERROR(PutAside(behind, why, note));
    return CheckpointPath(*step);
  }
  if (damaged.empty()) return std::filesystem::path();
  return Error(ErrorCode::kCorrupt,
               fmt::format("no checkpoint of this run can be gone on from: {}; to begin at the "
                           "beginning again, remove {}",
                           damaged.front().second.message(), (path_ / "checkpoints").string()));
}

Result<void> RunFolder::PutAside(int64_t step, const Error& why,
                                 const std::function<void(std::string_view)>& note) {
  const std::filesystem::path from = CheckpointPath(step), to = path_ / "damaged" / from.filename();
  std::error_code error;
  std::filesystem::create_directories(to.parent_path(), error);
  std::filesystem::remove_all(to, error);
  std::filesystem::rename(from, to, error);
  if (error) {
    return Error(ErrorCode::kIo, fmt::format("cannot move the damaged checkpoint {} to {}: {}",
                                             from.string(), to.string(), error.message()));
  }
  note(fmt::format("{}; the checkpoint is now in {}, and an older one is taken", why.message(),
                   to.string()));
  return {};
}

Result<void> RunFolder::Save(const Engine& engine, const Tokenizer& tokenizer,
                             const TrainingState& state, int64_t keep, const Beside& beside) {
  const std::filesystem::path aside = path_ / "checkpoints" / "unfinished";
  HONE_RETURN_IF_ERROR(engine.Save(aside, SaveType::kBf16, CheckpointPath(state.step).string()));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(aside / "tokenizer.json", tokenizer.ToJson()));
  HONE_RETURN_IF_ERROR(CopyFolder(path_ / kModelFiles, aside));
  HONE_RETURN_IF_ERROR(
      WriteFileAtomic(aside / kStateFile, DumpJson(state.ToJson(), JsonStyle::kPretty) + "\n"));
  if (beside) HONE_RETURN_IF_ERROR(beside(aside));
  HONE_RETURN_IF_ERROR(WriteChecksums(aside));
  HONE_RETURN_IF_ERROR(ReplaceDirectory(aside, CheckpointPath(state.step)));
  const std::vector<int64_t> steps = Checkpoints();
  for (size_t i = 0; i + static_cast<size_t>(keep) < steps.size(); ++i) {
    if ((state.best && steps[i] == state.best_step) || steps[i] == state.anchor) continue;
    Drop(steps[i]);
  }
  return {};
}

// By another name first: a kill while it goes must not leave half of it under its own.
void RunFolder::Drop(int64_t step) {
  const std::filesystem::path old = path_ / "checkpoints" / "old";
  std::error_code ignored;
  std::filesystem::remove_all(old, ignored);
  std::filesystem::rename(CheckpointPath(step), old, ignored);
  std::filesystem::remove_all(old, ignored);
}

std::vector<const ScoredTree*> FirstOf(const std::vector<ScoredTree>& records, int64_t count) {
  std::vector<const ScoredTree*> first;
  for (const ScoredTree& record : records) {
    if (count >= 0 && static_cast<int64_t>(first.size()) >= count) break;
    first.push_back(&record);
  }
  return first;
}

Result<std::unique_ptr<RunLog>> RunLog::Open(const std::filesystem::path& folder,
                                             int64_t first_step,
                                             const std::function<void(std::string_view)>& note) {
  std::unique_ptr<RunLog> log(new RunLog());
  log->folder_ = folder;
  log->first_step_ = first_step;
  log->lines_ = folder / kLines;
  HONE_RETURN_IF_ERROR(CutLines(log->lines_, first_step, note));
  HONE_ASSIGN_OR_RETURN(log->store_, RunStore::Open(folder / "store.sqlite"));
  HONE_RETURN_IF_ERROR(log->store_->DropStepsFrom(first_step));
  return log;
}

Result<void> RunLog::Add(double wall_time, int64_t step,
                         const std::map<std::string, double>& values,
                         const std::vector<const ScoredTree*>& records) {
  HONE_ASSIGN_OR_RETURN(RunStore::Transaction transaction, store_->Begin());
  HONE_RETURN_IF_ERROR(store_->AddMetrics(step, values));
  for (const ScoredTree* record : records) {
    const Result<int64_t> added = store_->AddTree(step, *record);
    if (!added.ok()) return added.error();
  }
  HONE_RETURN_IF_ERROR(transaction.Commit());
  Json::Object line{{"step", step}};
  for (const auto& [name, value] : values) line.emplace_back(name, value);
  HONE_RETURN_IF_ERROR(AppendLine(lines_, DumpJson(Json(std::move(line)))));
  if (events_ == nullptr) {
    HONE_ASSIGN_OR_RETURN(events_, EventFile::New(folder_, wall_time, first_step_));
  }
  return events_->Add(wall_time, step, values);
}

}  // namespace hone
