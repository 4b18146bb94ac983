#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "evaluate/suites/suite.h"

// The same suite in another guise, to see whether a model knows how to use tools or these tools.
// Ids and categories stay, gold is changed along, and everything follows from the seed.

namespace hone {

// Every tool has a name that says nothing ("tool_3"); the numbers are drawn for each case. Tools of
// this program have one name in the whole suite: `names` gets them (real to shown).
Suite WithRenamedTools(const Suite& suite, uint64_t seed,
                       std::map<std::string, std::string>* names);

// The parameters of described tools come in another order, are spelled in another style (user_id
// becomes userId, city becomes city_value) and lose their descriptions. Nested objects and tools of
// this program stay.
Suite WithChangedSchemas(const Suite& suite, uint64_t seed);

// The user's last message in other words. `rewritten` has whole texts by id; what is not in it is
// changed by fixed rules: other words for common openings, and a sentence around them.
Suite Paraphrased(const Suite& suite, uint64_t seed,
                  const std::map<std::string, std::string>& rewritten);
// {"id", "prompt"} per line. Errors name the file and the line.
Result<std::map<std::string, std::string>> ReadParaphrases(const std::filesystem::path& file);

}  // namespace hone
