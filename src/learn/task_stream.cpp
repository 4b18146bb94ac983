#include "learn/task_stream.h"

#include "base/check.h"
#include "base/json_fields.h"
#include "learn/batches.h"

namespace hone {
namespace {

constexpr size_t kMostWaiting = 256;  // per kind; what is beyond is passed over
constexpr uint64_t kFarthest = 10'000;
constexpr uint64_t kLookedAtTasks = 512;  // of an endless source

}  // namespace

std::string KindOf(const Task& task, uint64_t index, const std::string& by) {
  if (by == "index") return std::to_string(index);
  const Json* value = task.metadata.Find(by);
  if (value == nullptr || value->is_null()) return "other";
  return value->is_string() ? value->AsString() : DumpJson(*value, JsonStyle::kCanonical);
}

TaskStream::TaskStream(const TaskSource* source, std::string by, const Rng& rng)
    : source_(source), by_(std::move(by)), rng_(rng) {
  CHECK(source_->count(Split::kTrain).value_or(1) > 0, "a source without training tasks");
}

uint64_t TaskStream::At(uint64_t position) const {
  const std::optional<uint64_t> count = source_->count(Split::kTrain);
  if (!count) return source_->NumberAt(position);
  const uint64_t epoch = position / *count;
  if (order_.empty() || epoch != epoch_) {
    order_ = Shuffled(*count, rng_.Split("epoch").Split(epoch));
    epoch_ = epoch;
  }
  return order_[position % *count];
}

uint64_t TaskStream::Next() {
  // Those that were passed come first, or they would wait for ever.
  for (auto& [kind, numbers] : waiting_) {
    if (numbers.empty()) continue;
    const uint64_t number = numbers.front();
    numbers.pop_front();
    return number;
  }
  return At(position_++);
}

uint64_t TaskStream::Next(const std::string& kind) {
  if (by_ == "index") return std::stoull(kind);  // the kind is the task
  std::deque<uint64_t>& own = waiting_[kind];
  for (uint64_t looked = 0; own.empty() && looked < kFarthest; ++looked) {
    const uint64_t number = At(position_++);
    const std::string found = KindOf(source_->Make(Split::kTrain, number), number, by_);
    if (found == kind) return number;
    std::deque<uint64_t>& others = waiting_[found];
    if (others.size() < kMostWaiting) others.push_back(number);
  }
  if (own.empty()) return Next();
  const uint64_t number = own.front();
  own.pop_front();
  return number;
}

std::map<std::string, double> TaskStream::Shares() const {
  const std::optional<uint64_t> known = source_->count(Split::kTrain);
  const uint64_t count = known.value_or(kLookedAtTasks);
  std::map<std::string, double> shares;
  for (uint64_t place = 0; place < count; ++place) {
    const uint64_t number = known ? place : source_->NumberAt(place);
    shares[KindOf(source_->Make(Split::kTrain, number), number, by_)] +=
        1 / static_cast<double>(count);
  }
  return shares;
}

Json TaskStream::ToJson() const {
  Json::Object waiting;
  for (const auto& [kind, numbers] : waiting_) {
    if (!numbers.empty()) waiting.emplace_back(kind, Json::ArrayOf(numbers));
  }
  return Json::Of({{"position", position_}, {"waiting", Json(std::move(waiting))}});
}

Result<void> TaskStream::Restore(const Json& state) {
  JsonErrors errors;
  uint64_t position = 0;
  std::map<std::string, std::deque<uint64_t>> waiting;
  {
    JsonFields fields(state, "tasks", &errors);
    fields.Required("position", &position);
    const Json* by_kind = fields.Take("waiting");
    if (by_kind == nullptr || !by_kind->is_object()) {
      errors.Add("tasks.waiting", "must be an object");
    } else {
      const std::optional<uint64_t> count = source_->count(Split::kTrain);
      for (const auto& [kind, numbers] : by_kind->AsObject()) {
        std::vector<uint64_t> read;
        ReadJson(numbers, "tasks.waiting." + kind, &errors, &read);
        for (const uint64_t number : read) {
          if (count && number >= *count) {
            errors.Add("tasks.waiting." + kind, "names a task that the source does not have");
          }
        }
        waiting[kind].assign(read.begin(), read.end());
      }
    }
  }
  HONE_RETURN_IF_ERROR(errors.Check());
  position_ = position;
  waiting_ = std::move(waiting);
  return {};
}

}  // namespace hone
