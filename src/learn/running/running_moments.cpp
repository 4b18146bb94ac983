#include "learn/running/running_moments.h"

#include <cmath>
#include <vector>

#include "base/json_fields.h"

namespace hone {

void RunningMoments::Add(std::span<const double> values) {
  double count = 0, mean = 0, squares = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    ++count;
    mean += value;
  }
  if (count == 0) return;
  mean /= count;
  for (const double value : values) {
    if (std::isfinite(value)) squares += (value - mean) * (value - mean);
  }
  const double all = count_ + count, apart = mean - mean_;
  squares_ += squares + apart * apart * count_ * count / all;
  mean_ += apart * count / all;
  count_ = all;
}

double RunningMoments::Deviation() const {
  if (count_ < 2 || squares_ <= 0) return 1;
  const double deviation = std::sqrt(squares_ / (count_ - 1));
  // What differs by rounding alone does not vary.
  return deviation <= 1e-9 * std::abs(mean_) ? 1 : deviation;
}

double RunningMoments::Spread() const { return count_ == 0 ? 0 : std::sqrt(squares_ / count_); }

Json RunningMoments::ToJson() const {
  return Json::Of({{"count", count_}, {"mean", mean_}, {"squares", squares_}});
}

Result<void> RunningMoments::Restore(const Json& state, const std::string& path) {
  RunningMoments read;
  JsonErrors errors;
  {
    JsonFields fields(state, path, &errors);
    fields.Required("count", &read.count_);
    fields.Required("mean", &read.mean_);
    fields.Required("squares", &read.squares_);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  if (!(read.count_ >= 0) || !std::isfinite(read.mean_) || !(read.squares_ >= 0)) {
    return Error(ErrorCode::kCorrupt, path + ": these are no moments");
  }
  *this = read;
  return {};
}

}  // namespace hone
