#pragma once

namespace hone {

// From now on SIGINT and SIGTERM say this on standard error and end the program at once: for when
// nothing has to be finished. The text must live as long as the program.
void EndAtInterrupts(const char* text);
// From now on the first SIGINT or SIGTERM is only remembered, on whatever thread it comes, so that
// what is under way can be finished and saved; the next one does what it usually does. Before it
// is called, every one does.
void WatchInterrupts();
bool Interrupted();
// Returns when one has come. To be called once, after WatchInterrupts.
void AwaitInterrupt();

}  // namespace hone
