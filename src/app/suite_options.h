#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/endpoint_options.h"
#include "app/evaluation_setup.h"

namespace hone {

class Command;

// What a command line says of a suite.
// Whether the name of a suite is a file of one's own, and not of a benchmark.
bool IsFileOfLines(const std::string& suite);

struct SuiteOptions {
  std::string suite;  // "bfcl:FOLDER", "metatool:FOLDER", "gsm8k:FILE", "FILE.jsonl"; empty: none
  std::vector<std::string> categories;
  int64_t cases = 0;  // of each category; 0: all
  std::string tool = "calculator";
  std::string calls = "native";
  int64_t turns = 8;

  EndpointChoice endpoint;  // of environments, too

  bool rename_tools = false, change_schemas = false, paraphrase = false;
  std::string paraphrases;          // a file
  std::vector<std::string> faults;  // rules, or a file

  bool operator==(const SuiteOptions&) const = default;
  // An option that only suites have was given, with another value than it has anyway. Those of
  // endpoints are none.
  bool AnyGiven() const;
};

// Adds them to `hone eval`.
void AddSuiteOptions(Command eval, SuiteOptions* options);

// What `hone eval` says for suites, too.
struct SuiteCommand {
  EvaluationChoice choice;
  SuiteOptions options;
  std::optional<double> temperature;
  bool greedy = false;
  int64_t samples = 1;
  uint64_t seed = 0;
  std::string out;
};

// Measures, writes the file, and returns what is printed.
Result<std::string> EvaluateSuite(const SuiteCommand& command, bool json);

}  // namespace hone
