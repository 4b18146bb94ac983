#include "rewards/schedule.h"

#include <numbers>

#include "base/exact_math.h"
#include "base/json_fields.h"

namespace hone {

double Schedule::At(int64_t step) const {
  if (step >= begin + steps) return to;
  if (step <= begin || shape == Shape::kStep) return from;
  const double way = static_cast<double>(step - begin) / static_cast<double>(steps);
  double sine = 0, cosine = 0;
  SineCosine(std::numbers::pi * way, &sine, &cosine);
  const double share = shape == Shape::kLinear ? way : (1 - cosine) / 2;
  return from + (to - from) * share;
}

Result<Schedule> ScheduleFromJson(const Json& json) {
  Schedule schedule;
  if (json.is_number()) {
    schedule.from = schedule.to = json.AsDouble();
    return schedule;
  }
  JsonErrors errors;
  std::string shape = "linear";
  {
    JsonFields fields(json, "schedule", &errors);
    fields.Required("from", &schedule.from);
    fields.Required("to", &schedule.to);
    fields.Required("steps", &schedule.steps);
    fields.Optional("begin", &schedule.begin);
    fields.Optional("shape", &shape);
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  if (shape == "cosine") {
    schedule.shape = Schedule::Shape::kCosine;
  } else if (shape == "step") {
    schedule.shape = Schedule::Shape::kStep;
  } else if (shape != "linear") {
    return Error(ErrorCode::kInvalidArgument,
                 "schedule.shape: must be \"linear\", \"cosine\" or \"step\"");
  }
  constexpr int64_t kMost = int64_t{1} << 40;  // so that begin + steps cannot overflow
  if (schedule.steps < 0 || schedule.begin < 0 || schedule.steps > kMost ||
      schedule.begin > kMost) {
    return Error(ErrorCode::kInvalidArgument, "schedule: steps and begin must be from 0 to 2^40");
  }
  return schedule;
}

}  // namespace hone
