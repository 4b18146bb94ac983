#pragma once

namespace hone {

// SIGUSR1 is an interrupt, too: launchers and schedulers of clusters send it on to all processes,
// and do not kill them right afterwards.

// From now on an interrupt (SIGINT, SIGTERM) says this on standard error and end the program at
// once: for when nothing has to be finished. The text must live as long as the program.
void EndAtInterrupts(const char* text);
// From now on the first interrupt is only remembered, on whatever thread it comes, so that what is
// under way can be finished and saved; the next SIGINT or SIGTERM does what it usually does. Before
// it is called, every one does.
void WatchInterrupts();
bool Interrupted();
// Returns when one has come. To be called once, after WatchInterrupts.
void AwaitInterrupt();

}  // namespace hone
