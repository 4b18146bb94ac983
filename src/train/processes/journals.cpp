#include "train/processes/journals.h"

#include <sstream>

#include <fmt/format.h>

#include "base/file.h"
#include "cluster/wire.h"
#include "tools/journal/journal_transfer.h"
#include "train/backend.h"

namespace hone {
namespace {

constexpr char kProcessFolder[] = "process-";

// The journals of a process: of training, and of the real tools beside it.
std::vector<std::filesystem::path> JournalsOf(const TrainingRecipe& recipe, int rank) {
  const std::filesystem::path folder = JournalFolder(recipe, rank);
  std::vector<std::filesystem::path> files = {folder / "real.sqlite"};
  if (recipe.answers.mode == ToolMode::kReplay) return files;  // nothing is added to it
  files.push_back(rank == 0 ? std::filesystem::path(recipe.answers.journal)
                            : folder / "journal.sqlite");
  return files;
}

// As JSON Lines; of a file that is not there, nothing.
Result<std::string> Read(const std::filesystem::path& file) {
  if (!Exists(file)) return std::string();
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal, Journal::OpenForReading(file));
  std::ostringstream out;
  const Result<int64_t> written = ExportJournal(journal.get(), {}, out);
  if (!written.ok()) return written.error().In(file.string());
  return out.str();
}

Result<void> Add(const std::string& lines, const std::filesystem::path& file) {
  if (lines.empty()) return {};
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Journal> journal, Journal::Open(file));
  std::istringstream in(lines);
  const Result<ImportReport> added = ImportJournal(in, journal.get());
  return added.ok() ? Result<void>() : Result<void>(added.error().In(file.string()));
}

Result<std::string> ReadAll(const TrainingRecipe& recipe, int rank) {
  std::vector<std::string> texts;
  for (const std::filesystem::path& file : JournalsOf(recipe, rank)) {
    HONE_ASSIGN_OR_RETURN(texts.emplace_back(), Read(file));
  }
  WireWriter writer;
  writer(texts);
  return writer.Take();
}

Result<void> AddAll(const std::string& bytes, const TrainingRecipe& recipe, int rank) {
  std::vector<std::string> texts;
  WireReader reader(bytes);
  reader(texts);
  const std::vector<std::filesystem::path> files = JournalsOf(recipe, rank);
  if (!reader.whole() || texts.size() != files.size()) {
    return Error(ErrorCode::kCorrupt, "a journal of another process is cut off");
  }
  for (size_t i = 0; i < files.size(); ++i) HONE_RETURN_IF_ERROR(Add(texts[i], files[i]));
  return {};
}

// Of processes that are not among those of today, too.
Result<void> AddFoldersHere(const TrainingRecipe& recipe) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(recipe.Folder(), ignored)) {
    const std::string name = entry.path().filename().string();
    int rank = 0;
    if (std::sscanf(name.c_str(), "process-%d", &rank) != 1 || rank <= 0) continue;
    HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadAll(recipe, rank));
    HONE_RETURN_IF_ERROR(AddAll(bytes, recipe, 0));
  }
  return {};
}

// What process 0 has of all, for all.
Result<std::string> Collect(const TrainingRecipe& recipe, const std::vector<std::string>& all) {
  HONE_RETURN_IF_ERROR(AddFoldersHere(recipe));
  for (size_t rank = 1; rank < all.size(); ++rank) {
    HONE_RETURN_IF_ERROR(AddAll(all[rank], recipe, 0));
  }
  return ReadAll(recipe, 0);
}

Result<std::string> Nothing(const Result<void>& done) {
  return done.ok() ? Result<std::string>(std::string()) : Result<std::string>(done.error());
}

}  // namespace

std::filesystem::path JournalFolder(const TrainingRecipe& recipe, int rank) {
  return rank == 0 ? recipe.Folder() : recipe.Folder() / fmt::format("{}{}", kProcessFolder, rank);
}

TrainingRecipe JournalingFor(const TrainingRecipe& recipe, int rank) {
  TrainingRecipe own = recipe;
  if (rank > 0 && own.answers.mode != ToolMode::kReplay) {
    own.answers.journal = (JournalFolder(recipe, rank) / "journal.sqlite").string();
  }
  return own;
}

Result<void> ShareJournals(const TrainingRecipe& recipe, Cluster* cluster) {
  if (HasToolsInProcess(recipe)) return {};
  const int rank = cluster->rank();
  const auto own = [&]() -> Result<std::string> {
    std::error_code failed;
    std::filesystem::create_directories(JournalFolder(recipe, rank), failed);
    if (failed) {
      return Error(ErrorCode::kIo,
                   fmt::format("{}: {}", JournalFolder(recipe, rank).string(), failed.message()));
    }
    return rank == 0 ? Result<std::string>(std::string()) : ReadAll(recipe, rank);
  };
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> of_each, cluster->ShareResult(own()));
  // Everybody hears of what goes wrong in process 0 by what it shares.
  const Result<std::string> whole =
      rank == 0 ? Collect(recipe, of_each) : Result<std::string>(std::string());
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> shared, cluster->ShareResult(whole));
  const Result<void> added = rank == 0 ? Result<void>() : AddAll(shared[0], recipe, rank);
  const auto all_added = cluster->ShareResult(Nothing(added));
  return all_added.ok() ? Result<void>() : Result<void>(all_added.error());
}

}  // namespace hone
