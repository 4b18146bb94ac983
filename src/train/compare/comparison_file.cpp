#include "train/compare/comparison_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/toml.h"
#include "train/compare/claim_reader.h"
#include "train/recipe_identity.h"

namespace hone {
namespace {

constexpr int64_t kMostSeeds = 1000;
constexpr size_t kMostSettings = 1000;  // of an arm

std::vector<uint64_t> SeedsOf(int64_t count, int64_t from) {
  std::vector<uint64_t> seeds;
  for (int64_t i = 0; i < count; ++i) seeds.push_back(static_cast<uint64_t>(from + i));
  return seeds;
}

// Of a folder beside the cache, the lock and the reports.
bool IsName(std::string_view name) {
  return !name.empty() && name != "cache" && name != "lock" && !name.starts_with("compare.") &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
             std::string_view::npos &&
         name[0] != '.';
}

// What holds for a section unless it says otherwise.
struct Defaults {
  int64_t seeds = 1;
  int64_t seed_from = 1;
  double goal = 0.8;
  std::string baseline;
  std::vector<std::string> set;
  bool given_start = false;
  bool outcome_control = false;
  std::vector<double> tuning_seeds;
  std::vector<std::string> controls = {"start@0.3", "start@0.5", "start", "start-greedy"};
};

// Reads what a section and the whole file both may say.
void ReadDefaults(RecipeTable* table, Defaults* defaults) {
  table->Read("seeds", &defaults->seeds, "how many", Between(1, kMostSeeds));
  table->Read("seed_from", &defaults->seed_from, "the first seed", AtLeast(0));
  table->Read("goal", &defaults->goal, "success on dev, sampled", Between(0, 1));
  table->Read("baseline", &defaults->baseline, "the arm that others are compared with");
  std::vector<std::string> set;
  table->Read("set", &set, "key=value for all arms");
  defaults->set.insert(defaults->set.end(), set.begin(), set.end());
  table->Read("given_start", &defaults->given_start,
              "rl begins with a policy that is given, not drawn by the seed");
  table->Read("outcome_control", &defaults->outcome_control,
              "add an arm paid for the outcome alone where there is none");
  table->Read("tuning_seeds", &defaults->tuning_seeds, "of runs that only choose settings",
              AtLeast(0));
  for (const double seed : defaults->tuning_seeds) {
    if (seed == std::floor(seed) || !table->Has("tuning_seeds")) continue;
    table->Problem("tuning_seeds", fmt::format("{} is no seed: write integers", seed));
  }
  table->Read("controls", &defaults->controls, "the start without rl, measured as rows");
  for (const std::string& name : defaults->controls) {
    if (ParseControl(name) || !table->Has("controls")) continue;
    table->Problem("controls", fmt::format("there is no \"{}\": write \"start\", "
                                           "\"start-greedy\" or \"start@0.3\", a temperature",
                                           name));
  }
}

void Overrule(const ComparisonRequest& request, Defaults* defaults) {
  if (request.seeds > 0) defaults->seeds = request.seeds;
  if (request.seed_from >= 0) defaults->seed_from = request.seed_from;
  if (request.goal >= 0) defaults->goal = request.goal;
  if (!request.baseline.empty()) defaults->baseline = request.baseline;
  if (!request.controls) defaults->controls.clear();
}

// The place of the arm in the comparison. An arm of the same name must be the same.
std::optional<size_t> AddArm(const ComparisonArm& arm, ComparisonFile* comparison) {
  for (size_t i = 0; i < comparison->arms.size(); ++i) {
    if (comparison->arms[i].name != arm.name) continue;
    if (comparison->arms[i] != arm) return std::nullopt;
    return i;
  }
  comparison->arms.push_back(arm);
  return comparison->arms.size() - 1;
}

// Reads a comparison file.
class FileReader {
 public:
  FileReader(const std::filesystem::path& file, TomlValue document,
             const ComparisonRequest& request, ComparisonFile* comparison)
      : folder_(file.parent_path()),
        document_(std::move(document)),
        request_(request),
        comparison_(comparison) {}

  void Read(RecipeTable root) {
    root.Read("title", &comparison_->title, "");
    root.Read("text", &comparison_->text, "");
    std::string question;
    root.Read("question", &question, "");
    root.ReadChoice("choose", &comparison_->choose, {"dev/over-run", "dev/end"},
                    "what settings are chosen by");
    Defaults defaults;
    root.Read("fair", &defaults.outcome_control, "with an arm paid for the outcome alone");
    ReadDefaults(&root, &defaults);
    TomlValue* arms = document_.Find("arm");
    std::vector<RecipeTable> tables = root.Tables("arm");
    for (size_t i = 0; i < tables.size(); ++i) {
      RecipeTable& table = tables[i];
      ComparisonArm arm = ReadArm(&table, defaults.set);
      ReadGrid(&table, ElementOf(arms, i), &arm);
      ReadLike(&table, &arm);
      if (named_.contains(arm.name)) {
        table.Problem("name", fmt::format("there are two arms \"{}\"", arm.name));
      }
      order_.push_back(arm.name);
      named_[arm.name] = std::move(arm);
    }
    std::vector<RecipeTable> sections = root.Tables("section");
    for (size_t i = 0; i < sections.size(); ++i) {
      ReadSection(&sections[i], ElementOf(document_.Find("section"), i), defaults);
    }
    if (sections.empty()) {
      Overrule(request_, &defaults);
      ComparisonSection section{.title = comparison_->title, .question = question};
      Fill(order_, {}, defaults, &root, &section);
    } else if (!question.empty()) {
      comparison_->text += (comparison_->text.empty() ? "" : "\n\n") + question;
    }
    CheckTuningSeeds(&root);
    CheckLikes(&root);
    for (RecipeTable& table : root.Tables("claim")) ReadClaim(&table, comparison_);
  }

 private:
  // Null where the file does not have it itself.
  static TomlValue* ElementOf(TomlValue* array, size_t place) {
    const bool there = array != nullptr && place < array->elements.size();
    return there ? &array->elements[place] : nullptr;
  }

  // Seeds that settings were chosen with would favour who was chosen.
  void CheckTuningSeeds(RecipeTable* root) const {
    std::set<uint64_t> seeds, tuning;
    for (const ComparisonSection& section : comparison_->sections) {
      seeds.insert(section.seeds.begin(), section.seeds.end());
      tuning.insert(section.tuning_seeds.begin(), section.tuning_seeds.end());
    }
    std::vector<uint64_t> both;
    std::set_intersection(seeds.begin(), seeds.end(), tuning.begin(), tuning.end(),
                          std::back_inserter(both));
    if (both.empty()) return;
    root->Problem("tuning_seeds",
                  fmt::format("seed {} is in tuning_seeds ({}) and in seeds ({}); runs that choose "
                              "settings are thrown away and need seeds of their own",
                              both[0], fmt::join(tuning, ", "), fmt::join(seeds, ", ")));
  }

  // What an arm takes over must be chosen in some section.
  void CheckLikes(RecipeTable* root) const {
    for (const ComparisonArm& arm : comparison_->arms) {
      const auto chosen = [&](const ComparisonArm& one) { return one.name == arm.like; };
      if (arm.like.empty() ||
          std::any_of(comparison_->arms.begin(), comparison_->arms.end(), chosen)) {
        continue;
      }
      root->Problem("arm",
                    fmt::format("\"{}\" is like \"{}\", which no section has", arm.name, arm.like));
    }
  }

  ComparisonArm ReadArm(RecipeTable* table, const std::vector<std::string>& set) {
    ComparisonArm arm;
    table->Read("recipe", &arm.recipe, "TOML, relative to this file");
    if (arm.recipe.empty()) table->Problem("recipe", "is missing: the recipe's file");
    arm.recipe = (folder_ / arm.recipe).lexically_normal().string();
    arm.name = std::filesystem::path(arm.recipe).stem().string();
    table->Read("name", &arm.name, "of its folder");
    if (!IsName(arm.name)) {
      table->Problem("name", fmt::format("\"{}\" is not a name of letters, digits, - and _ (nor "
                                         "may it be \"cache\")",
                                         arm.name));
    }
    arm.label = arm.name;
    table->Read("label", &arm.label, "for tables");
    std::vector<std::string> own;
    table->Read("set", &own, "key=value, over the recipe's");
    arm.changes = set;
    arm.changes.insert(arm.changes.end(), own.begin(), own.end());
    arm.changes.insert(arm.changes.end(), request_.set.begin(), request_.set.end());
    return arm;
  }

  // All combinations, the last key changing fastest. The keys are not known here, so that they are
  // taken from the TOML.
  static void ReadGrid(RecipeTable* table, TomlValue* file, ComparisonArm* arm) {
    if (!table->Has("grid")) return;
    table->PassOver("grid");
    TomlValue* grid = file == nullptr ? nullptr : file->Find("grid");
    if (grid == nullptr || grid->kind != TomlValue::Kind::kTable || grid->members.empty()) {
      return table->Problem("grid", "wants { \"stage.1.learning_rate\" = [1e-4, 3e-4] }");
    }
    arm->grid = {{}};
    for (const TomlMember& member : grid->members) {
      std::vector<std::vector<std::string>> longer;
      for (const std::vector<std::string>& setting : arm->grid) {
        for (const TomlValue& value : member.value.elements) {
          if (value.kind != TomlValue::Kind::kScalar) continue;
          longer.push_back(setting);
          longer.back().push_back(fmt::format("{}={}", member.key, DumpJson(value.scalar)));
        }
      }
      if (longer.size() != arm->grid.size() * member.value.elements.size() || longer.empty()) {
        table->Problem("grid", fmt::format("{}: wants an array of values", member.key));
      }
      arm->grid = std::move(longer);
    }
    if (arm->grid.size() > kMostSettings) {
      table->Problem("grid",
                     fmt::format("{} settings are more than {}", arm->grid.size(), kMostSettings));
    }
  }

  // Whose setting it takes: an arm that was read before.
  void ReadLike(RecipeTable* table, ComparisonArm* arm) const {
    table->Read("like", &arm->like, "takes the setting that is chosen for this arm");
    if (arm->like.empty()) return;
    const auto found = named_.find(arm->like);
    if (found == named_.end() || found->second.grid.empty()) {
      table->Problem("like", fmt::format("there is no [[arm]] \"{}\" with a grid before this one{}",
                                         arm->like, DidYouMean(arm->like, order_)));
    } else if (!arm->grid.empty()) {
      table->Problem("like", "an arm has a grid or is like another, not both");
    }
  }

  void ReadSection(RecipeTable* table, TomlValue* file, Defaults defaults) {
    ComparisonSection section;
    table->Read("title", &section.title, "");
    table->Read("question", &section.question, "");
    table->Read("text", &section.text, "");
    const size_t outer = defaults.set.size();
    ReadDefaults(table, &defaults);
    if (defaults.set.size() > outer && table->Has("arms")) {
      table->Problem("set",
                     "changes arms that other sections may have, too; write [[section.arm]] "
                     "with a name of its own");
    }
    Overrule(request_, &defaults);
    std::vector<std::string> names;
    table->Read("arms", &names, "names of [[arm]]s");
    std::vector<ComparisonArm> own;
    std::vector<RecipeTable> tables = table->Tables("arm");
    for (size_t i = 0; i < tables.size(); ++i) {
      own.push_back(ReadArm(&tables[i], defaults.set));
      ReadGrid(&tables[i], ElementOf(file == nullptr ? nullptr : file->Find("arm"), i),
               &own.back());
      ReadLike(&tables[i], &own.back());
    }
    Fill(names, own, defaults, table, &section);
  }

  void Fill(const std::vector<std::string>& names, const std::vector<ComparisonArm>& own,
            const Defaults& defaults, RecipeTable* table, ComparisonSection* section) {
    std::vector<std::string> here;
    const auto add = [&](const ComparisonArm& arm, std::string_view key) {
      const std::optional<size_t> place = AddArm(arm, comparison_);
      if (!place) {
        table->Problem(key, fmt::format("there are two different arms \"{}\"; name one of them "
                                        "otherwise",
                                        arm.name));
      } else if (std::find(here.begin(), here.end(), arm.name) != here.end()) {
        table->Problem(key, fmt::format("\"{}\" occurs twice", arm.name));
      } else {
        section->arms.push_back(*place);
        here.push_back(arm.name);
      }
    };
    for (const std::string& name : names) {
      const auto found = named_.find(name);
      if (found == named_.end()) {
        table->Problem("arms",
                       fmt::format("there is no [[arm]] \"{}\"{}", name, DidYouMean(name, order_)));
      } else {
        add(found->second, "arms");
      }
    }
    for (const ComparisonArm& arm : own) add(arm, "arm");
    if (here.empty()) table->Problem("arm", "there is nothing to compare: write an [[arm]]");
    if (!defaults.baseline.empty()) {
      const auto found = std::find(here.begin(), here.end(), defaults.baseline);
      if (found == here.end()) {
        table->Problem("baseline", fmt::format("there is no arm \"{}\" here{}", defaults.baseline,
                                               DidYouMean(defaults.baseline, here)));
      } else {
        section->baseline = static_cast<size_t>(found - here.begin());
      }
    }
    section->goal = defaults.goal;
    section->given_start = defaults.given_start;
    section->controls = defaults.controls;
    section->outcome_control = defaults.outcome_control;
    for (const double seed : defaults.tuning_seeds) {
      section->tuning_seeds.push_back(static_cast<uint64_t>(seed));
    }
    for (const size_t arm : section->arms) {
      if (comparison_->arms[arm].grid.empty() || !section->tuning_seeds.empty()) continue;
      table->Problem("tuning_seeds", fmt::format("are missing: \"{}\" has a grid to choose from",
                                                 comparison_->arms[arm].name));
    }
    section->seeds = SeedsOf(defaults.seeds, defaults.seed_from);
    comparison_->sections.push_back(std::move(*section));
  }

  std::filesystem::path folder_;
  TomlValue document_;
  const ComparisonRequest& request_;
  ComparisonFile* comparison_;
  std::map<std::string, ComparisonArm> named_;
  std::vector<std::string> order_;
};

// Absent: it is a recipe.
Result<std::optional<TomlValue>> ComparisonIn(const std::string& file) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  HONE_ASSIGN_OR_RETURN(TomlValue document, ParseToml(text, file));
  const bool compares = document.Find("arm") != nullptr || document.Find("section") != nullptr;
  return compares ? std::optional(std::move(document)) : std::nullopt;
}

Result<ComparisonFile> OfRecipes(const ComparisonRequest& request) {
  Defaults defaults;
  Overrule(request, &defaults);
  ComparisonFile comparison;
  ComparisonSection section{.seeds = SeedsOf(defaults.seeds, defaults.seed_from),
                            .goal = defaults.goal,
                            .controls = defaults.controls};
  std::vector<std::string> names;
  for (const std::string& file : request.files) {
    const std::string name = std::filesystem::path(file).stem().string();
    if (!IsName(name)) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("\"{}\" cannot be the name of a folder of runs; rename {}", name, file));
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("two recipes are called \"{}\"; name them in a comparison file "
                               "(docs/compare.md)",
                               name));
    }
    names.push_back(name);
    section.arms.push_back(comparison.arms.size());
    comparison.arms.push_back(
        {.name = name, .label = name, .recipe = file, .changes = request.set});
  }
  if (!defaults.baseline.empty()) {
    const auto found = std::find(names.begin(), names.end(), defaults.baseline);
    if (found == names.end()) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("--baseline: there is no recipe \"{}\"{}", defaults.baseline,
                               DidYouMean(defaults.baseline, names)));
    }
    section.baseline = static_cast<size_t>(found - names.begin());
  }
  comparison.sections.push_back(std::move(section));
  return comparison;
}

// What the weights at the beginning of practice depend on.
std::string StartKey(const TrainingRecipe& recipe) {
  Json::Array stages;
  for (size_t i = 0; i < recipe.stages.size() && !recipe.stages[i]->traits().practice; ++i) {
    if (!recipe.stages[i]->traits().trains_policy()) continue;
    stages.push_back(StageInputs(recipe, i));
  }
  return ContentHash(Json::Of({{"seed", recipe.run.seed},
                               {"stages", std::move(stages)},
                               {"model", SaidPart(recipe, "model")}}));
}

}  // namespace

std::optional<ControlName> ParseControl(std::string_view name) {
  if (name == "start") return ControlName{};
  if (name == "start-greedy") return ControlName{.greedy = true};
  constexpr std::string_view kAt = "start@";
  if (!name.starts_with(kAt)) return std::nullopt;
  name.remove_prefix(kAt.size());
  double temperature = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), temperature);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (!(temperature > 0 && temperature <= 100)) return std::nullopt;
  return ControlName{.temperature = temperature};
}

Json PlannedRun::Evaluation() const { return SaidPart(recipe, "evaluation"); }

Result<ComparisonFile> ReadComparison(const ComparisonRequest& request) {
  if (request.files.empty()) {
    return Error(ErrorCode::kInvalidArgument, "name the recipes that are to be compared");
  }
  for (const std::string& file : request.files) {
    HONE_ASSIGN_OR_RETURN(std::optional<TomlValue> document, ComparisonIn(file));
    if (!document) continue;
    if (request.files.size() > 1) {
      return Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} is a comparison of its own; it cannot be compared with others", file));
    }
    HONE_ASSIGN_OR_RETURN(Recipe recipe, Recipe::Load(file));
    ComparisonFile comparison;
    FileReader(file, *std::move(document), request, &comparison).Read(recipe.Root());
    HONE_RETURN_IF_ERROR(recipe.Finish());
    return comparison;
  }
  return OfRecipes(request);
}

Result<PlannedRun> PlanRun(const ComparisonFile& comparison, size_t arm, uint64_t seed,
                           const std::filesystem::path& folder) {
  PlannedRun run{.arm = arm, .seed = seed};
  const ComparisonArm& what = comparison.arms[arm];
  HONE_ASSIGN_OR_RETURN(Recipe file, Recipe::Load(what.recipe));
  run.overrides.push_back(fmt::format("run.cache={}", (folder / "cache").string()));
  // A change may say another cache.
  run.overrides.insert(run.overrides.end(), what.changes.begin(), what.changes.end());
  for (std::string own :
       {fmt::format("run.seed={}", seed), fmt::format("run.name=seed-{}", seed),
        fmt::format("run.out={}", (folder / what.name).string()), std::string("run.resume=auto")}) {
    run.overrides.push_back(std::move(own));
  }
  for (const std::string& assignment : run.overrides) file.Override(assignment);
  HONE_ASSIGN_OR_RETURN(run.recipe, ReadTrainingRecipe(&file, BuiltInStages(), comparison.use));
  run.hash = RecipeHash(run.recipe);
  run.start_key = StartKey(run.recipe);
  return run;
}

Result<std::vector<PlannedRun>> PlanRuns(const ComparisonFile& comparison,
                                         const std::filesystem::path& folder) {
  std::vector<std::pair<size_t, uint64_t>> order;  // arm and seed
  std::set<std::pair<size_t, uint64_t>> known;
  const auto add = [&](size_t arm, uint64_t seed) {
    if (comparison.arms[arm].Open()) return;
    if (known.emplace(arm, seed).second) order.emplace_back(arm, seed);
  };
  for (const ComparisonSection& section : comparison.sections) {
    std::vector<size_t> arms = section.arms;
    for (const StartControl& control : section.start_controls) {
      if (control.made) arms.push_back(control.arm);
    }
    for (const uint64_t seed : section.seeds) add(arms[0], seed);
    for (const uint64_t seed : section.seeds) {
      for (const size_t arm : arms) add(arm, seed);
    }
  }
  std::vector<PlannedRun> runs;
  std::string problems;
  std::set<size_t> broken;  // what is wrong with one seed is wrong with all
  for (const auto& [arm, seed] : order) {
    if (broken.contains(arm)) continue;
    Result<PlannedRun> run = PlanRun(comparison, arm, seed, folder);
    if (run.ok()) {
      runs.push_back(*std::move(run));
      continue;
    }
    broken.insert(arm);
    problems += fmt::format("{}{}", problems.empty() ? "" : "\n",
                            run.error().In(comparison.arms[arm].name).message());
  }
  if (problems.empty()) return runs;
  if (comparison.use == RecipeUse::kToReport) {
    problems +=
        "\nA run is known by what is in the files that its recipe names, so a report wants these, "
        "too; the first lines of a recipe say how they are made. Models are not wanted.";
  }
  return Error(ErrorCode::kInvalidArgument, problems);
}

}  // namespace hone
