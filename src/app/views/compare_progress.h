#pragma once

#include <cstdio>
#include <memory>

#include "train/compare/comparison_runs.h"

namespace hone {

// Shows how a comparison goes: for people one bar over all runs with an estimate of the rest, where
// a person looks, and a line where a run begins, enters a stage, is measured and ends; for programs
// one JSON object per event.
std::unique_ptr<ComparisonObserver> NewCompareProgress(bool programs, std::FILE* stream);

}  // namespace hone
