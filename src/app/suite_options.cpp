#include "app/suite_options.h"

#include <CLI/CLI.hpp>

namespace hone {

bool SuiteOptions::AnyGiven() const {
  return !categories.empty() || cases > 0 || !model_name.empty() || !key_variable.empty() ||
         !journal.empty() || rename_tools || change_schemas || paraphrase || !paraphrases.empty() ||
         !faults.empty();
}

void AddSuiteOptions(CLI::App* eval, SuiteOptions* options) {
  eval->add_option("suite", options->suite,
                   "bfcl:FOLDER, metatool:FOLDER, gsm8k:FILE or FILE.jsonl (docs/suites.md); else "
                   "an environment");
  const char* group = "Of a suite";
  const auto number = CLI::Range(int64_t{1}, int64_t{10'000'000});
  eval->add_option("--category", options->categories, "only these; may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  eval->add_option("--cases", options->cases, "so many of each category, drawn by the seed")
      ->check(number)
      ->group(group);
  eval->add_option("--tool", options->tool, "of gsm8k: calculator, python or none")
      ->capture_default_str()
      ->group(group);
  eval->add_option(
          "--calls", options->calls,
          "of bfcl: native (as the model's dialect or API spells them) or text (written in "
          "Python)")
      ->check(CLI::IsMember({"native", "text"}))
      ->capture_default_str()
      ->group(group);
  eval->add_option("--turns", options->turns, "at most, where tools answer")
      ->check(number)
      ->capture_default_str()
      ->group(group);
  eval->add_option("--turn-tokens", options->turn_tokens, "at most, of a turn")
      ->check(number)
      ->capture_default_str()
      ->group(group);

  group = "Of a suite, the model being a URL";
  const auto price = CLI::Range(0.0, 1e9);
  eval->add_option("--model-name", options->model_name, "as the endpoint calls it")->group(group);
  eval->add_option("--key-variable", options->key_variable,
                   "the environment variable that holds the key")
      ->group(group);
  eval->add_option("--prompt-price", options->prompt_price, "per million tokens")
      ->check(price)
      ->group(group);
  eval->add_option("--completion-price", options->completion_price, "per million tokens")
      ->check(price)
      ->group(group);
  eval->add_option("--max-money", options->max_money, "nothing is asked beyond; 0: no limit")
      ->check(price)
      ->group(group);
  eval->add_option("--journal", options->journal,
                   "completions are kept in this file and not asked for again")
      ->group(group);
  eval->add_option("--at-once", options->at_once, "cases under way at a time")
      ->check(CLI::Range(int64_t{1}, int64_t{256}))
      ->capture_default_str()
      ->group(group);

  group = "Of a suite, measured besides the plain one";
  eval->add_flag("--rename-tools", options->rename_tools, "with names that say nothing")
      ->group(group);
  eval->add_flag("--change-schemas", options->change_schemas,
                 "with parameters in another order and style, without descriptions")
      ->group(group);
  eval->add_flag("--paraphrase", options->paraphrase, "with requests in other words")->group(group);
  eval->add_option("--paraphrases", options->paraphrases,
                   "with those of a file: {\"id\", \"prompt\"} per line")
      ->group(group);
  eval->add_option("--faults", options->faults,
                   "with faults in tools that answer: a rule (timeout,probability=0.2) or a file "
                   "(.toml) of [[faults]]")
      ->allow_extra_args(false)
      ->group(group);
}

}  // namespace hone
