#pragma once

namespace hone {

// From now on the first SIGINT or SIGTERM is only remembered, on whatever thread it comes, so that
// what is under way can be finished and saved; the next one does what it usually does. Before it
// is called, every one does.
void WatchInterrupts();
bool Interrupted();
// Returns when one has come. To be called once, after WatchInterrupts.
void AwaitInterrupt();

}  // namespace hone
