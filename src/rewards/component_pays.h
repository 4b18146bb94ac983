#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone {

// What a component of the default reward is paid: `paid` for a score of 1, less `lost` for one of
// 0.
struct Pay {
  double paid = 0;
  double lost = 0;  // not negative; subtracted

  double Of(double score) const { return score * paid - (1 - score) * lost; }
  bool operator==(const Pay&) const = default;
};

// What the seven components pay (docs/rewards.md), and what they weigh.
struct ComponentPays {
  Pay called = {1.0, 0.2};     // when: a tool was needed; called, or not
  Pay refrained = {0.5, 0.2};  // when: none was needed; not called, or called
  Pay which = {1.5, 0.5};
  Pay syntax = {0.5, 1.0};
  Pay execution = {1.0, 1.0};
  Pay arguments = {1.0, 0.5};
  Pay outcome = {10.0, 0.5};
  Pay preference = {3.0, 0.5};
  std::map<std::string, double> weights = {};  // by component; 1 where absent

  bool operator==(const ComponentPays&) const = default;
};

// "outcome=2" of a list of weights; an error where it is not a component's name, once, and a number
// from 0 on.
Result<std::map<std::string, double>> WeightsFrom(const std::vector<std::string>& texts);
std::vector<std::string> ToTexts(const std::map<std::string, double>& weights);

}  // namespace hone
