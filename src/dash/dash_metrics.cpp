#include "dash/dash_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

namespace hone {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

// Enough for a picture, in a third of the bytes.
Json ShortJson(double value) {
  if (!std::isfinite(value)) return Json();
  if (value == std::floor(value) && std::abs(value) < 1e9) {
    return static_cast<int64_t>(value);
  }
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

}  // namespace

void MetricsLog::Forget() {
  read_ = 0;
  steps_.clear();
  columns_.clear();
  ++generation_;
}

void MetricsLog::AddLine(std::string_view line) {
  const Result<Json> json = ParseJson(line);
  if (!json.ok() || !json->is_object()) return;  // half written by a run that was killed
  const Json* step = json->Find("step");
  if (step == nullptr || !step->is_integer()) return;
  steps_.push_back(step->AsInteger() + 1);
  for (const auto& [name, value] : json->AsObject()) {
    if (name == "step" || !value.is_number()) continue;
    std::vector<double>& column = columns_[name];
    column.resize(steps_.size() - 1, kNothing);
    column.push_back(value.AsDouble());
  }
}

Result<void> MetricsLog::Refresh() {
  const int file = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) {
    if (!steps_.empty()) Forget();
    return {};
  }
  if (file < 0) return ErrnoError("cannot read " + file_.string());
  struct stat status {};
  if (::fstat(file, &status) != 0) {
    Error error = ErrnoError("cannot read " + file_.string());
    ::close(file);
    return error;
  }
  const auto size = static_cast<uint64_t>(status.st_size);
  if (inode_ != status.st_ino || size < read_) {
    if (inode_ != 0) Forget();
    inode_ = status.st_ino;
  }
  std::string text(size - read_, '\0');
  size_t got = 0;
  while (got < text.size()) {
    const ssize_t some =
        ::pread(file, text.data() + got, text.size() - got, static_cast<off_t>(read_ + got));
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) {
      Error error = ErrnoError("cannot read " + file_.string());
      ::close(file);
      return error;
    }
    if (some == 0) break;
    got += static_cast<size_t>(some);
  }
  ::close(file);
  text.resize(got);
  // The last line may be half written; it is read when its end is there.
  size_t begin = 0;
  for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    AddLine(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
  read_ += begin;
  return {};
}

std::vector<std::string> MetricsLog::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, column] : columns_) names.push_back(name);
  return names;
}

std::vector<double> MetricsLog::Column(const std::string& name) const {
  const auto found = columns_.find(name);
  if (found == columns_.end()) return {};
  std::vector<double> column = found->second;
  column.resize(steps_.size(), kNothing);
  return column;
}

Json MetricsLog::ToJson(const std::vector<std::string>& names, int64_t generation,
                        int64_t first_row) const {
  const size_t rows = steps_.size();
  size_t first = 0;
  if (generation == generation_ && first_row > 0) {
    first = std::min(static_cast<size_t>(first_row), rows);
  }
  Json::Array steps;
  for (size_t row = first; row < rows; ++row) steps.emplace_back(steps_[row]);
  Json series = Json::Object();
  for (const std::string& name : names) {
    const auto found = columns_.find(name);
    if (found == columns_.end()) continue;
    const std::vector<double>& column = found->second;
    Json::Array values;
    values.reserve(rows - first);
    for (size_t row = first; row < rows; ++row) {
      values.push_back(row < column.size() ? ShortJson(column[row]) : Json());
    }
    series.Set(name, std::move(values));
  }
  return Json::Of({{"generation", generation_},
                   {"first_row", static_cast<int64_t>(first)},
                   {"steps", std::move(steps)},
                   {"series", std::move(series)}});
}

}  // namespace hone
