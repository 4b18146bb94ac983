#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hone {

// The headings of docs/formats/metrics.md, in their order.
enum class MetricSection { kAgent, kDrawn, kUpdate, kImitation, kTime };

enum class Better { kHigher, kLower, kNeither };

// One number of metrics.jsonl.
struct Metric {
  MetricSection section;
  std::string_view name;  // ending in "*": all names that begin so
  std::string_view unit;  // of the value; "share" is from 0 to 1
  Better better;          // kNeither: it depends
  std::string_view meaning;
};

// Everything that training writes, that alarms watch and that the dashboard draws: the one place
// where a metric is named and explained.
std::span<const Metric> MetricsTable();

// Null: nobody knows such a metric. A full name goes before one that ends in "*".
const Metric* FindMetric(std::string_view name);

// The section as a table in Markdown, as docs/formats/metrics.md has it.
std::string MetricRows(MetricSection section);

}  // namespace hone
