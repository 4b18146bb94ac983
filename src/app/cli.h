#pragma once

namespace hone {

// The whole program: reads the command line, runs one command, returns the exit status: 0 for
// success, 1 for a failure (with one line on standard error that says what to do), 2 for a wrong
// command line.
int RunCli(int argc, char** argv);

}  // namespace hone
