#pragma once

#include <cstdio>
#include <memory>

#include "train/compare/comparison_runs.h"

namespace hone {

// Shows how a comparison goes: for people one bar over all runs with an estimate of the rest, where
// a person looks, and a line per run; for programs one JSON object per event.
std::unique_ptr<ComparisonObserver> NewCompareProgress(bool programs, std::FILE* stream);

// "2 h 5 min", "3 min 20 s", "45 s"
std::string DurationText(double seconds);

}  // namespace hone
