#pragma once

#include <memory>

#include "tools/responder.h"
#include "tools/timeline.h"

namespace hone {

// Answers with the real tools. Keeps each toolkit to its limits (calls at a time, calls per
// second), keeps the order of calls that share a session, and, where there is a journal, commits
// that a call which must not be repeated begins, before it begins. The timeline
// must outlive it.
std::unique_ptr<Responder> NewLiveResponder(const Toolbox& toolbox, Timeline* timeline,
                                            std::shared_ptr<Journal> journal);

}  // namespace hone
