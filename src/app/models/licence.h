#pragma once

#include <filesystem>
#include <string>

#include "app/models/catalogue.h"
#include "base/result.h"

namespace hone {

// What a known model may be used for is its owner's to say.

// One line for people: the licence, whose it is, and where it is described.
std::string LicenceLine(const KnownModel& model);

// Writes LICENSE (the whole text) and NOTICE (whose model it is, where it comes from, what was
// changed) into the model's folder. `changed`: a sentence.
Result<void> WriteLicence(const KnownModel& model, const std::string& changed,
                          const std::filesystem::path& folder);

}  // namespace hone
