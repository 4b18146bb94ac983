#include "learn/stage_settings.h"

#include "simulate/settings.h"

namespace hone {
namespace {

DemonstratorSettings ReadDemonstrator(RecipeTable* table, std::string_view environment) {
  DemonstratorSettings settings;
  const bool has_teacher = environment == "desk" || environment == "service";
  if (has_teacher) settings.agent = "teacher";
  table->ReadChoice("demonstrator", &settings.agent, {"teacher", "gold"}, "who shows how");
  if (settings.agent == "teacher") {
    table->Read("teacher_error", &settings.teacher_error,
                "share of the teacher's calls that go wrong", Between(0, 1));
    if (!has_teacher) {
      table->Problem("demonstrator", "only desk and service have a teacher; write \"gold\"");
    }
  }
  return settings;
}

OptimizerOptions ReadOptimizer(RecipeTable* table, OptimizerOptions options) {
  std::string kind = "adamw";
  table->ReadChoice("optimizer", &kind, {"adamw", "muon"},
                    "muon: orthogonal steps for the matrices of layers");
  if (kind == "muon") {
    options.kind = OptimizerOptions::Kind::kMuon;
    table->Read("momentum", &options.momentum, "of orthogonal steps", Between(0, 1));
  }
  table->Read("beta1", &options.beta1, "of AdamW", Between(0, 1));
  table->Read("beta2", &options.beta2, "of AdamW", Between(0, 1));
  table->Read("weight_decay", &options.weight_decay, "", AtLeast(0));
  table->Read("max_norm", &options.max_norm, "longer gradients are shortened to it; 0: never",
              AtLeast(0));
  return options;
}

SftStage ReadSftStage(RecipeTable table, std::string_view environment) {
  SftStage stage;
  stage.demonstrator = ReadDemonstrator(&table, environment);
  table.Read("successful_only", &stage.demonstrator.successful_only,
             "leave out demonstrations that did not end well, or wasted a call");
  table.Read("steps", &stage.steps, "of the optimiser", AtLeast(1));
  table.Read("batch", &stage.batch, "demonstrations per step", AtLeast(1));
  table.Read("demonstrations", &stage.demonstrations, "different ones; 0: none comes twice",
             AtLeast(0));
  table.Read("other_weight", &stage.loss.other_weight, "of tokens that others wrote", AtLeast(0));
  table.Read("call_tokens", &stage.loss.call_tokens,
             "tokens that go through the engine at once, at most: bounds its memory", AtLeast(1));
  stage.rate = ReadLearningRate(
      &table,
      {.peak = 3e-3, .warmup = 40, .steps = stage.steps, .shape = LearningRate::Shape::kCosine});
  stage.rate.steps = stage.steps;
  stage.optimizer =
      ReadOptimizer(&table, {.beta1 = 0.9, .beta2 = 0.95, .weight_decay = 0.05, .max_norm = 1});
  return stage;
}

SimulatorStage ReadSimulatorStage(RecipeTable table) {
  SimulatorStage stage;
  table.Read("tasks", &stage.tasks, "played on the real tools for the record", AtLeast(1));
  table.Read("mistakes", &stage.mistakes, "share of the calls that go wrong there", Between(0, 1));
  stage.model = ReadLearnedOptions(table);
  return stage;
}

RecordStage ReadRecordStage(RecipeTable table) {
  RecordStage stage;
  table.Read("tasks", &stage.tasks, "played on the real tools for the record", AtLeast(1));
  table.Read("gold", &stage.gold, "as plans say, and nothing else");
  if (!stage.gold) {
    table.Read("mistakes", &stage.mistakes, "share of the calls that go wrong there",
               Between(0, 1));
  }
  return stage;
}

RlStage ReadRlStage(RecipeTable table) {
  RlStage stage;
  table.Read("steps", &stage.steps, "rounds of sampling and learning", AtLeast(1));
  table.Read("groups", &stage.groups, "tasks per step", AtLeast(1));
  table.Read("group", &stage.group, "trajectories per task", AtLeast(1));
  table.Read("trajectories", &stage.trajectories,
             "over once so many were drawn; 0: after all steps", AtLeast(0));
  stage.batches.mini_batches = 2;
  table.Read("mini_batches", &stage.batches.mini_batches, "optimiser steps per epoch", AtLeast(1));
  table.Read("epochs", &stage.batches.epochs, "passes over the groups of a step", AtLeast(1));
  table.Read("call_tokens", &stage.batches.call_tokens,
             "tokens that go through the engine at once, at most: bounds its memory", AtLeast(1));
  stage.rate = ReadLearningRate(&table, {.peak = 3e-4, .warmup = 5, .steps = stage.steps});
  stage.rate.steps = stage.steps;
  stage.optimizer =
      ReadOptimizer(&table, {.beta1 = 0.9, .beta2 = 0.99, .weight_decay = 0, .max_norm = 1});
  return stage;
}

}  // namespace

std::string_view StageKind(const StageSettings& stage) {
  if (std::holds_alternative<SftStage>(stage)) return "sft";
  if (std::holds_alternative<RecordStage>(stage)) return "record";
  return std::holds_alternative<SimulatorStage>(stage) ? "simulator" : "rl";
}

StageSettings ReadStage(RecipeTable table, std::string_view environment) {
  std::string kind = "rl";
  table.ReadChoice("kind", &kind, {"sft", "simulator", "record", "rl"}, "of stage");
  if (!table.Has("kind")) table.Problem("kind", "is missing: sft, simulator, record or rl");
  if (kind == "sft") return ReadSftStage(table, environment);
  if (kind == "simulator") return ReadSimulatorStage(table);
  if (kind == "record") return ReadRecordStage(table);
  return ReadRlStage(table);
}

}  // namespace hone
