#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"

namespace hone {

// What Hone can do with a model, found out by doing it.
struct ModelStep {
  enum class State {
    kYes,
    kNo,      // it was tried and does not work: the words say why
    kAbsent,  // there is nothing to try it with: the words say what is missing
  };
  State state = State::kAbsent;
  std::string words;  // what was found, in a line
};

struct ModelRow {
  std::string name;     // of the folder or file
  ModelStep tokenizes;  // texts of many kinds come back
  ModelStep renders;    // its own chat template, with tools and calls where it can spell them
  ModelStep parses;     // a call that its template writes is read back; the words name the format
  ModelStep loads;      // its architecture is known, and its weights are there and load
  ModelStep trains;     // one step on a few tokens has a gradient that is finite and not 0

  Json ToJson() const;
};
// The steps by name, in their order.
std::vector<std::pair<std::string, const ModelStep*>> StepsOf(const ModelRow& row);

struct ModelTableOptions {
  // Weights of larger models are not loaded: that takes some 16 bytes for each.
  int64_t most_parameters = 500'000'000;
};

// Of a model's folder, of a folder with only some of a model's files (a tokenizer, a config.json, a
// template), or of the file of a
// template (.jinja) or a tokenizer (.json). Writes nothing there.
ModelRow CheckModel(const std::filesystem::path& path, const ModelTableOptions& options);

}  // namespace hone
