#pragma once

#include "envs/play.h"
#include "record/tree.h"

namespace hone {

// An episode that somebody played whose tokens nobody here knows (a model behind an endpoint), as a
// tree of one trajectory: its turns with calls, faults and results, and its end, but no tokens. It
// can be measured (measures.h) and scored by rewards that go by the record; it cannot be trained
// on.
Tree PlayedTree(const Task& task, uint64_t seed, const Playthrough& played);

}  // namespace hone
