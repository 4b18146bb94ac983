#pragma once

namespace hone {

// From now on the first SIGINT or SIGTERM is only remembered, so that what is under way can be
// finished and saved; the next one does what it usually does.
void WatchInterrupts();
bool Interrupted();

}  // namespace hone
