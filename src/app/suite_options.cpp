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
  eval.AddOption("--turn-tokens", &options->turn_tokens, "at most, of a turn")
      .Between(1, kMany)
      .ShowDefault()
      .Group(group);
}

void AddEndpoint(Command eval, SuiteOptions* options) {
  const char* group = "Of a suite, the model being a URL";
  constexpr double kPrice = 1e9;
  eval.AddOption("--model-name", &options->model_name, "as the endpoint calls it").Group(group);
  eval.AddOption("--key-variable", &options->key_variable,
                 "the environment variable that holds the key")
      .Group(group);
  eval.AddOption("--prompt-price", &options->prompt_price, "per million tokens")
      .Between(0.0, kPrice)
      .Group(group);
  eval.AddOption("--completion-price", &options->completion_price, "per million tokens")
      .Between(0.0, kPrice)
      .Group(group);
  eval.AddOption("--max-money", &options->max_money, "nothing is asked beyond; 0: no limit")
      .Between(0.0, kPrice)
      .Group(group);
  eval.AddOption("--journal", &options->journal,
                 "completions are kept in this file and not asked for again")
      .Group(group);
  eval.AddOption("--at-once", &options->at_once, "cases under way at a time")
      .Between(1, 256)
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
  AddEndpoint(eval, options);
  AddVariations(eval, options);
}

}  // namespace hone
