#include "train/run_estimate.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/file.h"
#include "engine/device/device_memory.h"
#include "engine/memory.h"
#include "learn/batches.h"
#include "train/recipe_checks.h"
#include "train/rehearsal.h"
#include "train/stage_cache.h"
#include "train/stages/sft_stage.h"

namespace hone {
namespace {

constexpr int64_t kLookedAtDemonstrations = 128;  // demonstrations

double Since(const Clock& clock, Clock::Duration begin) {
  return std::chrono::duration<double>(clock.Now() - begin).count();
}

std::string Size(int64_t bytes) {
  if (bytes < 10'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  if (bytes < 10'000'000'000) return fmt::format("{:.0f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

std::string Time(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

// What a language model that plays the tools is paid for one call: it reads the instructions, the
// tool's description, the arguments and examples, and writes the answer.
double PriceOfPlaying(const SimulatorOptions& simulator, const ToolSpec& spec, const Call& call,
                      const std::string& answer) {
  if (simulator.kind != "endpoint" || spec.computable) return 0;
  constexpr double kInstructions = 1200, kBytesPerToken = 4;
  const auto asked = static_cast<double>(DumpJson(call.arguments).size());
  const auto answered = static_cast<double>(answer.size());
  const auto described = static_cast<double>(DumpJson(spec.ToJson()).size());
  const double read = kInstructions + described + asked +
                      static_cast<double>(simulator.model_player.examples) * (asked + answered);
  const LanguageModelOptions& prices = simulator.model.language_model;
  return (read * prices.prompt_price + answered * prices.completion_price) / kBytesPerToken / 1e6;
}

double PriceOf(const TrainingRecipe& recipe, const ToolSpec& spec, const Call& call,
               const std::string& answer) {
  return recipe.Simulates() ? PriceOfPlaying(*recipe.answers.simulator, spec, call, answer)
                            : spec.price;
}

// What is looked at to see how long episodes are: the conversations that are imitated,
// demonstrations, or, where nobody can show anything, episodes in which nothing is done.
Result<std::vector<Tree>> TreesToLookAt(const TrainingRecipe& recipe, StageContext* context) {
  const auto progress = context->ProgressOf("episodes looked at");
  const TurnCodec& codec = *context->language.codec;
  std::vector<Tree> trees;
  if (const ConversationMixture* conversations = FirstConversations(recipe)) {
    const int64_t positions = PositionsOf(recipe.model);
    for (const auto& file : conversations->files()) {
      for (const ConversationMixture::Placed& placed : file) {
        if (std::ssize(trees) == kLookedAtDemonstrations) return trees;
        Result<Tree> tree = RowTree(codec, placed.row, positions);
        if (!tree.ok()) return tree.error().In(placed.place);
        // The stage itself says what becomes of rows that are too long.
        if (positions == 0 || CountTokens(*tree) <= positions) trees.push_back(*std::move(tree));
      }
    }
    return trees;
  }
  const TaskSource& tasks = *context->environment.tasks;
  if (tasks.count(Split::kTrain).value_or(1) == 0) {
    return Error(ErrorCode::kNotFound, "there are no tasks to train on");
  }
  const bool shown = context->environment.teacher != nullptr ||
                     context->environment.gold_agent(tasks.Make(Split::kTrain, 0)).ok();
  DemonstratorOptions settings;
  if (context->environment.teacher) settings = {.agent = "teacher", .teacher_error = 0.3};
  if (!shown) settings.agent = "idle";
  Demonstrator demonstrator(settings, &context->environment, context->showing->executor(),
                            recipe.run.seed);
  for (uint64_t i = 0; i < kLookedAtDemonstrations; ++i) {
    if (progress) progress(static_cast<int64_t>(i), kLookedAtDemonstrations);
    HONE_ASSIGN_OR_RETURN(std::optional<Tree> tree, demonstrator.ShowTree(i, codec));
    if (tree) trees.push_back(*std::move(tree));  // else a chance answer led nowhere
  }
  return trees;
}

// How long the demonstrations are.
Result<std::vector<Tree>> LookAtDemonstrations(const TrainingRecipe& recipe, StageContext* context,
                                               RunEstimate* estimate) {
  HONE_ASSIGN_OR_RETURN(std::vector<Tree> trees, TreesToLookAt(recipe, context));
  for (const Tree& tree : trees) {
    for (const Node& node : tree.nodes) {
      const auto tokens = static_cast<double>(node.tokens.size());
      estimate->tokens_per_demonstration += tokens;
      if (node.author == Author::kPolicy) estimate->policy_tokens_per_demonstration += tokens;
      estimate->calls_per_demonstration += static_cast<double>(node.calls.size());
      for (const ToolResult& result : node.results) {
        const Node& turn = tree.nodes[static_cast<size_t>(node.parent)];
        const Call& call = turn.calls[static_cast<size_t>(result.call)];
        const Toolbox::Tool* tool = context->environment.environment->tools()->Find(call.name);
        if (tool == nullptr) continue;
        estimate->money_per_trajectory += PriceOf(recipe, tool->spec, call, result.content);
      }
    }
  }
  for (Tree& tree : trees) tree = ForImitation(tree);
  if (trees.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "no demonstration could be made to see how long episodes are; see whether the "
                 "environment's tasks can be done (hone env check)");
  }
  for (double* sum :
       {&estimate->tokens_per_demonstration, &estimate->policy_tokens_per_demonstration,
        &estimate->calls_per_demonstration, &estimate->money_per_trajectory}) {
    *sum /= static_cast<double>(trees.size());
  }
  return trees;
}

// How fast the engine is here with this model.
Result<void> Probe(const std::vector<Tree>& trees, StageContext* context, RunEstimate* estimate) {
  const std::unique_ptr<Clock> clock = NewRealClock();
  Engine& engine = *context->engine;
  int64_t tokens = 0;
  std::vector<size_t> order;
  std::vector<int64_t> lengths;
  for (const Tree& tree : trees) {
    HONE_RETURN_IF_ERROR(CheckDemonstration(engine, tree));
    lengths.push_back(CountTokens(tree));
    tokens += lengths.back();
    order.push_back(order.size());
  }
  const SftOptions options;
  double fastest = 0;  // the first one also takes the memory
  for (int i = 0; i < 2; ++i) {
    const Clock::Duration begin = clock->Now();
    AccumulateSft(options, trees, PackByTokens(order, lengths, options.call_tokens), &engine);
    engine.Step({.learning_rate = 1e-6});
    fastest = std::max(fastest, static_cast<double>(tokens) / Since(*clock, begin));
  }
  estimate->train_tokens_per_second = fastest;
  std::vector<SampleRequest> requests(64);
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].prompt = trees[i % trees.size()].nodes[0].tokens;
    requests[i].max_new = 16;
    requests[i].rng = Rng(i);
  }
  const Clock::Duration begin = clock->Now();
  const auto drawn = engine.Sample(requests);
  if (!drawn.ok()) return drawn.error();
  int64_t new_tokens = 0;
  for (const SampleResult& one : *drawn) new_tokens += static_cast<int64_t>(one.tokens.size());
  estimate->drawn_tokens_per_second = static_cast<double>(new_tokens) / Since(*clock, begin);
  return {};
}

// Null: the processor computes.
Result<std::shared_ptr<Device>> ComputingDevice(DeviceKind kind, const ModelConfig& config) {
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, Device::Open(kind));
  if (device != nullptr && !DeviceRunner::Supports(config).ok()) device = nullptr;
  return device;
}

// Gradients that are set aside at a time, where one process has all slices of a step: as many as
// the tree of their sums is high.
int64_t MostGradientsAside(const TrainingRecipe& recipe) {
  int64_t slices = 1, high = 0;
  for (const auto& stage : recipe.stages) slices = std::max(slices, stage->size().slices);
  while ((int64_t{1} << high) < slices) ++high;
  return high;
}

int64_t MostCallTokens(const TrainingRecipe& recipe) {
  int64_t tokens = 0;
  for (const auto& stage : recipe.stages) tokens = std::max(tokens, stage->size().call_tokens);
  return tokens;
}

// Where the processor computes: what a step takes at most of this machine's memory, by the shape of
// the model alone, whose weights may not fit either.
Result<void> LookAtMemory(const TrainingRecipe& recipe, const Model& shape, bool on_processor,
                          RunEstimate* estimate) {
  int64_t adapters = 0;
  for (const LoraModule& module : shape.lora) {
    adapters += shape.parameters[module.a].count() + shape.parameters[module.b].count();
  }
  const ModelConfig& config = shape.config;
  const int64_t tokens = MostCallTokens(recipe);
  estimate->parameters = config.ParameterCount();
  estimate->memory = TrainingMemory(config, recipe.model.precision, tokens,
                                    recipe.model.recompute_activations, adapters);
  if (const int64_t ahead = recipe.rollout.ahead; ahead > 0) {
    estimate->memory.emplace_back(
        fmt::format("weights that draw ahead, {} times", ahead + 1),
        (ahead + 1) *
            (DrawingWeightBytes(config, recipe.model.precision) + estimate->parameters * 4));
  }
  if (const int64_t aside = MostGradientsAside(recipe); aside > 0) {
    const int64_t trained = adapters > 0 ? adapters : estimate->parameters;
    estimate->memory.emplace_back("gradients of slices", aside * trained * 4);
  }
  const int64_t needed = TotalBytes(estimate->memory), present = MachineMemoryBytes();
  if (!on_processor || present == 0 || needed <= present) return {};
  const auto most =
      std::max_element(estimate->memory.begin(), estimate->memory.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "this run takes up to {} of memory ({} of it {}), and this machine has {}: lower "
          "stage.call_tokens ({} now), {}{}or compute on a GPU (--device cuda)",
          Size(needed), Size(most->second), most->first, Size(present), tokens,
          recipe.model.recompute_activations ? "" : "set model.recompute_activations=true, ",
          recipe.model.lora ? "" : "train adapters (model.lora={rank=16}), "));
}

// Where a device computes: what a step takes of it, before it is asked for anything.
Result<void> LookAtDevice(const TrainingRecipe& recipe, const Engine::Options& options,
                          const Model& model, const std::vector<Tree>& trees,
                          RunEstimate* estimate) {
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Device> device,
                        ComputingDevice(options.device, model.config));
  if (device == nullptr) return {};
  DeviceStepShape shape{.live = recipe.rollout.options.max_live, .sampler = options.sampler};
  shape.tokens = MostCallTokens(recipe);
  for (const auto& stage : recipe.stages) {
    shape.leaves = std::max(shape.leaves, stage->size().group);
  }
  int64_t nodes = 0, tokens = 0;
  for (const Tree& tree : trees) {
    shape.length = std::max(shape.length, CountTokens(tree));
    shape.prompt = std::max(shape.prompt, std::ssize(tree.nodes.front().tokens));
    nodes += std::ssize(tree.nodes);
    tokens += CountTokens(tree);
  }
  shape.node = std::max<int64_t>(1, tokens / std::max<int64_t>(1, nodes));
  const DeviceRunnerOptions runner = {options.precision, options.recompute_activations,
                                      options.small_moments, options.forbidden};
  const DeviceInfo info = device->info();
  // Libraries are loaded: they are not free any more.
  int64_t needed = DeriveDeviceMemory(model, runner, shape).Most();
  for (const Parameter& parameter : model.parameters) {
    if (!parameter.trained) continue;
    needed += MostGradientsAside(recipe) * static_cast<int64_t>(parameter.value.size()) * 4;
  }
  if (const int64_t ahead = recipe.rollout.ahead; ahead > 0) {
    shape.tokens = 0;  // engines that only draw
    needed += (ahead + 1) * DeriveDeviceMemory(model, runner, shape).Most();
  }
  estimate->device = RunEstimate::OnDevice{info.name, needed, info.free_memory};
  if (needed <= info.free_memory) return {};
  return Error(
      ErrorCode::kInvalidArgument,
      fmt::format("this run takes {} of the memory of {}, and {} are free: lower "
                  "stage.call_tokens ({} now) or rollout.live ({}), set "
                  "model.recompute_activations=true or model.moments=8bit, or use "
                  "--device cpu",
                  Size(needed), info.name, Size(info.free_memory), shape.tokens, shape.live));
}

// Which stages the run would find in the cache. Of imitation that begins with weights that an
// earlier stage makes this is not known before they are there.
Result<std::vector<bool>> FindInCache(const TrainingRecipe& recipe, StageContext* context) {
  const StageCache cache(recipe.run.cache);
  std::vector<bool> found;
  bool trained = false;
  for (size_t i = 0; i < recipe.stages.size(); ++i) {
    const StageTraits& traits = recipe.stages[i]->traits();
    const bool known = traits.shared && !(traits.trains_policy() && trained);
    trained = trained || traits.trains_policy();
    if (!known) {
      found.push_back(false);
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const Json inputs, context->InputsOf(i));
    found.push_back(cache.Find(recipe.stages[i]->kind(), inputs).has_value());
  }
  return found;
}

// Time of every stage, and what those that draw trees store and pay.
void AddStages(const TrainingRecipe& recipe, const std::vector<bool>& cached,
               RunEstimate* estimate) {
  const EpisodeFigures figures{.tokens = estimate->tokens_per_demonstration,
                               .policy_tokens = estimate->policy_tokens_per_demonstration,
                               .train_tokens_per_second = estimate->train_tokens_per_second,
                               .drawn_tokens_per_second = estimate->drawn_tokens_per_second};
  for (size_t i = 0; i < recipe.stages.size(); ++i) {
    const Stage& stage = *recipe.stages[i];
    const StageSize size = stage.size();
    estimate->stages.push_back(
        {std::string(stage.kind()), size.expected_steps, stage.SecondsPerStep(figures), cached[i]});
    const int64_t stored =
        recipe.run.store_groups < 0 ? size.groups : std::min(recipe.run.store_groups, size.groups);
    // Tokens, log-probabilities, entropies and credit, compressed, with what stands around them.
    constexpr double kBytesPerToken = 16;
    estimate->disk_bytes +=
        static_cast<int64_t>(static_cast<double>(size.steps * stored * size.group) *
                             estimate->tokens_per_demonstration * kBytesPerToken);
    // Where a simulator answers, what is right in its world is asked for once per task besides.
    const int64_t played = size.group + (recipe.Simulates() ? 1 : 0);
    estimate->money +=
        estimate->money_per_trajectory * static_cast<double>(size.steps * size.groups * played);
  }
}

// What it takes before the first stage, where all but the answers of others was `done` just now.
RunEstimate::SetUp SetUpOf(const TrainingRecipe& recipe, const StageContext& context, double done) {
  const Demonstrator shows(FirstDemonstrator(recipe), &context.environment,
                           context.showing->executor(), recipe.run.seed);
  RunEstimate::SetUp set_up{
      .demonstrations = DemonstrationsForTokenizer(recipe.model, shows, FirstConversations(recipe)),
      .seconds = done};
  if (set_up.demonstrations == 0 || HasToolsInProcess(recipe)) return set_up;
  set_up.asks_others = true;
  // A program that is one trajectory's alone is started for each.
  const auto& kits = context.environment.environment->tools()->kits();
  const bool each = std::any_of(kits.begin(), kits.end(), [](const Toolbox::Kit& kit) {
    return kit.toolkit->sharing() != Sharing::kNothing;
  });
  if (each) set_up.seconds += static_cast<double>(set_up.demonstrations) * context.tools_seconds;
  return set_up;
}

}  // namespace

double RunEstimate::Seconds() const {
  double sum = set_up.seconds;
  for (const Stage& stage : stages) {
    if (!stage.cached) sum += static_cast<double>(stage.steps) * stage.seconds_per_step;
  }
  return sum;
}

Json RunEstimate::ToJson() const {
  Json::Array rows;
  for (const Stage& stage : stages) {
    rows.push_back(Json::Of({{"kind", stage.kind},
                             {"steps", stage.steps},
                             {"seconds_per_step", stage.seconds_per_step},
                             {"cached", stage.cached}}));
  }
  return Json::Of({{"parameters", parameters},
                   {"memory_bytes", TotalBytes(memory)},
                   {"device", device ? Json::Of({{"name", device->name},
                                                 {"needed_bytes", device->needed_bytes},
                                                 {"free_bytes", device->free_bytes}})
                                     : Json()},
                   {"disk_bytes", disk_bytes},
                   {"train_tokens_per_second", train_tokens_per_second},
                   {"drawn_tokens_per_second", drawn_tokens_per_second},
                   {"set_up", Json::Of({{"demonstrations", set_up.demonstrations},
                                        {"seconds", set_up.seconds},
                                        {"asks_others", set_up.asks_others}})},
                   {"drawn_by", drawn_by},
                   {"stages", std::move(rows)},
                   {"seconds", Seconds()},
                   {"money", money}});
}

std::string RunEstimate::Table() const {
  std::string text =
      fmt::format("parameters  {:.2f} million\n", static_cast<double>(parameters) / 1e6);
  text += device ? fmt::format("memory      {} of {}, which has {} free\n",
                               Size(device->needed_bytes), device->name, Size(device->free_bytes))
                 : fmt::format("memory      {}\n", Size(TotalBytes(memory)));
  text +=
      fmt::format("disk        {} (a checkpoint: {})\n", Size(disk_bytes), Size(checkpoint_bytes));
  text += fmt::format(
      "speed       {:.0f} tokens/s trained, {:.0f} tokens/s drawn; measured just now, as busy as "
      "the machine is\n",
      train_tokens_per_second, drawn_tokens_per_second);
  if (!drawn_by.empty()) {
    text += fmt::format("drawing     by {}, taken to be as fast as this machine\n", drawn_by);
  }
  text += fmt::format("episodes    {:.0f} tokens, {:.0f} of them the agent's; {:.2f} calls\n",
                      tokens_per_demonstration, policy_tokens_per_demonstration,
                      calls_per_demonstration);
  const std::string shown = set_up.demonstrations == 0
                                ? "set-up"
                                : fmt::format("set-up, {} demonstrations", set_up.demonstrations);
  text += fmt::format("time        {:<33}{:>8}{}\n", shown, Time(set_up.seconds),
                      set_up.asks_others ? ", and what the tools take to answer" : "");
  for (const Stage& stage : stages) {
    if (stage.cached) {
      text += fmt::format("time        {:<33}{:>8}\n", stage.kind, "in the cache");
      continue;
    }
    if (stage.seconds_per_step == 0) {
      text += fmt::format("time        {:<33}{:>8}\n", stage.kind, "seconds");
      continue;
    }
    text += fmt::format("time        {:<10}{:>6} steps of {:>6.2f} s  {:>8}\n", stage.kind,
                        stage.steps, stage.seconds_per_step,
                        Time(static_cast<double>(stage.steps) * stage.seconds_per_step));
  }
  text += fmt::format("            {:<33}{:>8}, and the evaluations\n", "all", Time(Seconds()));
  return text + fmt::format("money       {:.2f}\n", money);
}

Result<RunEstimate> EstimateRun(const TrainingRecipe& recipe, const SetUpHooks& hooks) {
  const TemporaryDirectory nowhere;
  const std::unique_ptr<Clock> clock = NewRealClock();
  PassTimes times(clock.get());
  const Clock::Duration begin = clock->Now();
  HONE_ASSIGN_OR_RETURN(
      const std::unique_ptr<StageContext> context,
      StageContext::Open(recipe, nowhere.path(), {}, &times, {.rehearsal = true, .hooks = hooks}));
  RunEstimate estimate;
  estimate.set_up = SetUpOf(recipe, *context, Since(*clock, begin));
  HONE_ASSIGN_OR_RETURN(const Model shape,
                        ModelShapeOf(recipe.model, *context->language.tokenizer));
  HONE_ASSIGN_OR_RETURN(const std::shared_ptr<Device> device,
                        ComputingDevice(context->engine_options.device, shape.config));
  HONE_RETURN_IF_ERROR(LookAtMemory(recipe, shape, device == nullptr, &estimate));
  HONE_ASSIGN_OR_RETURN(Model model,
                        MakeModel(recipe.model, *context->language.tokenizer, recipe.run.seed));
  HONE_RETURN_IF_ERROR(Rehearse(recipe, context.get(), /*knock=*/false));
  HONE_ASSIGN_OR_RETURN(const std::vector<Tree> trees,
                        LookAtDemonstrations(recipe, context.get(), &estimate));
  HONE_RETURN_IF_ERROR(LookAtDevice(recipe, context->engine_options, model, trees, &estimate));
  context->engine = std::make_unique<Engine>(std::move(model), context->engine_options);
  HONE_ASSIGN_OR_RETURN(const std::vector<bool> cached, FindInCache(recipe, context.get()));
  HONE_RETURN_IF_ERROR(Probe(trees, context.get(), &estimate));

  // Weights in two precisions and two moments, and those that draw ahead; the newest, the best, one
  // being written, one cached.
  estimate.checkpoint_bytes = estimate.parameters * (2 + 3 * 4 + 4 * recipe.rollout.ahead);
  estimate.disk_bytes = estimate.checkpoint_bytes * (recipe.run.keep + 3);
  estimate.drawn_by = recipe.policy.url;
  if (recipe.policy.on && recipe.policy.push) {  // the weights for the server, the new and the old
    estimate.disk_bytes += 2 * 4 * estimate.parameters;
  }
  AddStages(recipe, cached, &estimate);
  if (recipe.Simulates()) {
    const double most = recipe.answers.simulator->model.language_model.max_money;
    if (most > 0) estimate.money = std::min(estimate.money, most);
  }
  return estimate;
}

}  // namespace hone
