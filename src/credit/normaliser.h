#pragma once

#include <span>

namespace hone {

// What is taken from a value before it becomes an advantage.
enum class Centre {
  kNone,
  kMean,          // of the group, itself included
  kLeaveOneOut,   // of the others
  kLengthMean,    // of the group, weighted by length (OPO)
  kBestOverNext,  // only the best keeps anything: what it is above the second best (pass@k)
};

enum class Scale {
  kNone,
  kGroupDeviation,  // sample standard deviation of the group + epsilon
  kBatchDeviation,  // of all values of the batch + epsilon
  kNonzeroShare,    // the share of the batch's values that is not 0 (GPG)
};

// What a group of one gets. Papers disagree, so it is always said.
enum class Alone { kZero, kRaw };

struct Normaliser {
  Centre centre = Centre::kMean;
  Scale scale = Scale::kNone;
  // Only for a group that was one from the beginning: one that shrank to one (the others were not
  // scored) gets zero, or doing nothing would be reinforced by what was missing.
  Alone alone = Alone::kZero;
  int least = 1;  // groups with fewer members get zero
  double epsilon = 1e-6;
};

struct Deviation {
  double mean = 0;
  double deviation = 0;  // sample (n - 1); 0 for fewer than two
  bool equal = true;     // largest - smallest < 1e-9
};
Deviation DeviationOf(std::span<const double> values);

// Normalises the members of one group in place. `lengths` is read by kLengthMean, `divisor` by the
// scales of the batch (kBatchDeviation, kNonzeroShare). `alone` says what a group of one gets here.
void Normalise(const Normaliser& normaliser, std::span<const double> lengths, double divisor,
               Alone alone, std::span<double> values);

}  // namespace hone
