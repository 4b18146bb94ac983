#!/usr/bin/env bash
# Sets Hone up on Debian 12, builds it, and trains an agent: imitation of a sloppy teacher, a simulator learned from recorded
# calls, practice against the simulated tools, and a measurement on the real ones. Ends with a table and a page to look at.
# Safe to run again: only what is missing is installed, only what changed is built, and training goes on where it was (what is finished
# is not done again).
set -euo pipefail
cd "$(dirname "$0")"

title() { printf '\n\033[1m%s\033[0m\n' "$*" | { [ -t 1 ] && cat || sed 's/\x1b\[[0-9;]*m//g'; }; }
show() { printf '$ %s\n' "$*"; "$@"; }

title "1. Packages and build (some minutes the first time)"
./dev setup
# The CUDA side takes a while to compile: only where a GPU would run it, and where nvcc is (docs/gpu.md).
compgen -G '/dev/nvidia[0-9]*' >/dev/null && cuda=(hone_cuda) || cuda=()
./dev build release hone ${cuda[@]+"${cuda[@]}"}
PATH=$PWD/build/release:$PATH

title "2. What this machine has, and what the training will take here"
show hone doctor
show hone train recipes/quickstart.toml --plan

title "3. Training: imitation, a simulator, practice against it; before and after on the real tools"
show hone train recipes/quickstart.toml

title "4. Where the credit went: a group of the run, token by token"
show hone show runs/quickstart 1 | sed -n 1,40p

title "Done."
cat <<'END'
The report is runs/quickstart/report.html. Next:
  export PATH=$PWD/build/release:$PATH      so that the shell finds hone
  hone dash                                 curves and trajectories in a browser, also while training runs
  hone eval runs/quickstart                 measure the agent again, with intervals
  hone chat runs/quickstart                 talk to it
  hone --help                               all commands
  examples/tour/tour.sh                     a tour of the parts: tokens, trees, credit, tools
  recipes/README.md                         the other recipes; byo.toml is for your own tools
  docs/concepts.md                          the words, in the order the data goes
  ./test.sh                                 the tests
END
