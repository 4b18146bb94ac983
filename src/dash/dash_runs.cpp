#include "dash/dash_runs.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/file.h"
#include "base/strings.h"
#include "base/toml.h"
#include "train/stage.h"

namespace hone {
namespace {

constexpr int kDepth = 3;           // runs/COMPARISON/METHOD/seed-1
constexpr size_t kMostRuns = 2000;  // runs on one page

bool IsRun(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(folder / "recipe.toml", ignored) ||
         std::filesystem::is_regular_file(folder / "store.sqlite", ignored);
}

void Collect(const std::filesystem::path& folder, const std::string& id, int depth,
             std::vector<RunPlace>* runs) {
  if (runs->size() >= kMostRuns) return;
  if (IsRun(folder)) {
    runs->push_back({id, folder});
    return;
  }
  if (depth == kDepth) return;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    if (name.starts_with(".") || !entry->is_directory(ignored)) continue;
    Collect(entry->path(), id.empty() ? name : id + "/" + name, depth + 1, runs);
  }
}

std::string NameOf(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(folder, ignored);
  return whole.filename().string();
}

std::string TextIn(TomlValue* table, std::string_view key) {
  TomlValue* found = table == nullptr ? nullptr : table->Find(key);
  return found != nullptr && found->scalar.is_string() ? found->scalar.AsString() : "";
}

int64_t IntegerIn(TomlValue* table, std::string_view key) {
  TomlValue* found = table == nullptr ? nullptr : table->Find(key);
  return found != nullptr && found->scalar.is_integer() ? found->scalar.AsInteger() : 0;
}

}  // namespace

std::vector<RunPlace> FindRuns(const std::vector<std::filesystem::path>& roots) {
  std::vector<RunPlace> runs;
  std::set<std::string> taken;
  for (const std::filesystem::path& root : roots) {
    std::vector<RunPlace> found;
    Collect(root, IsRun(root) ? NameOf(root) : "", 0, &found);
    // Two folders may have runs of the same name.
    const bool clash = std::any_of(found.begin(), found.end(),
                                   [&](const RunPlace& run) { return taken.contains(run.id); });
    for (RunPlace& run : found) {
      if (clash && !IsRun(root)) run.id = NameOf(root) + "/" + run.id;
      std::string id = run.id;
      for (int again = 2; !taken.insert(id).second; ++again) {
        id = fmt::format("{} ({})", run.id, again);
      }
      runs.push_back({id, std::move(run.folder)});
    }
  }
  std::sort(runs.begin(), runs.end(),
            [](const RunPlace& a, const RunPlace& b) { return a.id < b.id; });
  return runs;
}

bool IsBeingTrained(const std::filesystem::path& run) {
  struct stat status {};
  if (::stat((run / "lock").c_str(), &status) != 0) return false;
  const Result<std::string> locks = ReadFile("/proc/locks");
  if (!locks.ok()) return false;
  // "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF"
  const std::string place =
      fmt::format(" {:02x}:{:02x}:{} ", major(status.st_dev), minor(status.st_dev), status.st_ino);
  for (size_t begin = 0; begin < locks->size();) {
    const size_t end = std::min(locks->find('\n', begin), locks->size());
    const std::string_view line = std::string_view(*locks).substr(begin, end - begin);
    begin = end + 1;
    if (line.find("FLOCK") != line.npos && line.find("WRITE") != line.npos &&
        line.find(place) != line.npos && line.find("->") == line.npos) {
      return true;
    }
  }
  return false;
}

int64_t RecipeFacts::Steps() const {
  int64_t steps = 0;
  for (const Stage& stage : stages) {
    if (TrainsPolicy(stage.kind)) steps += stage.steps;
  }
  return steps;
}

int64_t RecipeFacts::StepInStage(int64_t step) const {
  int64_t before = 0;
  for (const Stage& stage : stages) {
    if (!TrainsPolicy(stage.kind)) continue;
    if (step < before + stage.steps) break;
    before += stage.steps;
  }
  return std::max<int64_t>(step - before, 0);
}

namespace {

// Its kind; of several their names.
std::string EnvironmentIn(TomlValue* environment) {
  if (environment == nullptr || environment->kind != TomlValue::Kind::kArray) {
    return TextIn(environment, "kind");
  }
  std::string names;
  for (TomlValue& one : environment->elements) {
    names += (names.empty() ? "" : " + ") + TextIn(&one, "name");
  }
  return names;
}

std::string ModelText(TomlValue* model) {
  if (model == nullptr) return "";
  if (const std::string folder = TextIn(model, "folder"); !folder.empty()) {
    const std::filesystem::path path = std::filesystem::path(folder).lexically_normal();
    return (path.has_filename() ? path : path.parent_path()).filename().string();
  }
  TomlValue* fresh = model->Find("fresh");
  if (fresh == nullptr) return "";
  return fmt::format("fresh {} x {}", IntegerIn(fresh, "layers"), IntegerIn(fresh, "width"));
}

}  // namespace

Result<RecipeFacts> ReadRecipeFacts(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(TomlValue recipe, ParseToml(text, "recipe.toml"));
  RecipeFacts facts;
  facts.method = TextIn(recipe.Find("credit"), "method");
  facts.loss = TextIn(recipe.Find("objective"), "loss");
  facts.environment = EnvironmentIn(recipe.Find("environment"));
  facts.model = ModelText(recipe.Find("model"));
  facts.seed = IntegerIn(recipe.Find("run"), "seed");
  if (TomlValue* stages = recipe.Find("stage"); stages != nullptr) {
    for (TomlValue& stage : stages->elements) {
      facts.stages.push_back({TextIn(&stage, "kind"), IntegerIn(&stage, "steps")});
    }
  }
  return facts;
}

}  // namespace hone
