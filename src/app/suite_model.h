#pragma once

#include <memory>

#include "app/evaluation_setup.h"

namespace hone {

// A model of this machine that is to do a suite: engine and language, without an environment.
struct SuiteModel {
  ModelPlace place;
  RunLanguage language;
  std::unique_ptr<Engine> engine;
  PolicyOptions policy;  // its temperature is the caller's

  Result<Policy> PolicyAt(double temperature) const;
};

// The dialect is the command line's, else that of the model's run, else hermes. Every way in which
// they cannot be had, or do not fit each other, is an error that says what to do.
Result<std::unique_ptr<SuiteModel>> OpenSuiteModel(const EvaluationChoice& choice,
                                                   int64_t turn_tokens);

}  // namespace hone
