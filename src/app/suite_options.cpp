#include "app/suite_options.h"

#include "app/command_line.h"

namespace hone {
namespace {

void AddCases(Command eval, SuiteOptions* options) {
  const char* group = "Of a suite";
  constexpr int kMany = 10'000'000;
  eval.AddOption("--category", &options->categories, "only these; may be repeated")
      .SplitAt(',')
      .OneAtATime()
      .Group(group);
  eval.AddOption("--cases", &options->cases, "so many of each category, drawn by the seed")
      .Between(1, kMany)
      .Group(group);
  eval.AddOption("--tool", &options->tool, "of gsm8k: calculator, python or none")
      .ShowDefault()
      .Group(group);
  eval.AddOption("--calls", &options->calls,
                 "of bfcl: native (as the model's dialect or API spells them) or text (written in "
                 "Python)")
      .OneOf({"native", "text"})
      .ShowDefault()
      .Group(group);
  eval.AddOption("--turns", &options->turns, "at most, where tools answer")
      .Between(1, kMany)
      .ShowDefault()
      .Group(group);
}

void AddVariations(Command eval, SuiteOptions* options) {
  const char* group = "Of a suite, measured besides the plain one";
  eval.AddFlag("--rename-tools", &options->rename_tools, "with names that say nothing")
      .Group(group);
  eval.AddFlag("--change-schemas", &options->change_schemas,
               "with parameters in another order and style, without descriptions")
      .Group(group);
  eval.AddFlag("--paraphrase", &options->paraphrase, "with requests in other words").Group(group);
  eval.AddOption("--paraphrases", &options->paraphrases,
                 "with those of a file: {\"id\", \"prompt\"} per line")
      .Group(group);
  eval.AddOption("--faults", &options->faults,
                 "with faults in tools that answer: a rule (timeout,probability=0.2) or a file "
                 "(.toml) of [[faults]]")
      .OneAtATime()
      .Group(group);
}

}  // namespace

bool SuiteOptions::AnyGiven() const {
  SuiteOptions usual;
  usual.suite = suite;
  usual.endpoint = endpoint;
  return *this != usual;
}

bool IsFileOfLines(const std::string& suite) {
  return suite.ends_with(".jsonl") && !suite.starts_with("gsm8k:");
}

void AddSuiteOptions(Command eval, SuiteOptions* options) {
  eval.AddOption("suite", &options->suite,
                 "bfcl:FOLDER, metatool:FOLDER, gsm8k:FILE or FILE.jsonl (docs/suites.md); else "
                 "an environment");
  AddCases(eval, options);
  eval.AddOption("--turn-tokens", &options->endpoint.turn_tokens,
                 "at most, of a turn of a suite or an endpoint")
      .Between(1, 10'000'000)
      .ShowDefault();
  AddEndpointOptions(eval, "The model being a URL", &options->endpoint);
  AddVariations(eval, options);
}

}  // namespace hone
