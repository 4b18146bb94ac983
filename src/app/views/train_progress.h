#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/terminal.h"
#include "train/trainer.h"

namespace hone {

enum class ProgressStyle {
  kPeople,    // a bar where a person looks, and a line every few steps
  kPrograms,  // one JSON object per event
  kQuiet,     // nothing
};

// Shows how a run goes. People's view goes to `stream`; so do programs' events.
std::unique_ptr<TrainObserver> NewTrainProgress(ProgressStyle style, std::FILE* stream);

// What is said at the end: before and after, where the time went, what can be done next.
std::string TrainSummary(const TrainingRecipe& recipe, const TrainReport& report,
                         const Terminal& terminal);
// Commands that make sense after a run, each with what it is for.
std::vector<std::pair<std::string, std::string>> NextSteps(const std::string& folder,
                                                           bool has_test_tasks);
Json TrainSummaryJson(const TrainReport& report);

}  // namespace hone
