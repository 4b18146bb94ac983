#pragma once

#include <string>

#include "base/rng.h"
#include "envs/study/facts.h"

namespace hone::study {

// The text of a document about an entity: what is known of it in one of three wordings, with one
// clause per relation. `second`: says the rival value of what is disputed.
std::string DescriptionOf(const Entity& entity, size_t wording, bool second);
inline constexpr size_t kWordings = 3;

// A sentence about `entity` that only mentions a name: of a person (`person`), else of a thing of
// the kind that such sentences are about.
std::string MentionOf(EntityKind about, const std::string& name, bool person);
// Of which kind that thing is.
EntityKind MentionedBeside(EntityKind about);

}  // namespace hone::study
