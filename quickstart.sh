#!/usr/bin/env bash
# Sets Hone up on Debian 12, builds it, and takes a short tour of what it can do.
# Safe to run again: only what is missing is installed and only what changed is built.
set -euo pipefail
cd "$(dirname "$0")"

title() { printf '\n\033[1m%s\033[0m\n' "$*" | { [ -t 1 ] && cat || sed 's/\x1b\[[0-9;]*m//g'; }; }
show() { printf '$ %s\n' "$*"; "$@"; }

title "1. Packages and build (a few minutes the first time)"
./dev setup
./dev build release
PATH=$PWD/build/release:$PATH

title "2. What this machine has"
show hone doctor

tokenizer=tests/golden/tokenizer
title "3. Text to tokens: the ids are those of Hugging Face's tokenizers"
show hone tokenize --tokenizer $tokenizer "Will it rain in Paris tomorrow?<|im_end|>"

title "4. A conversation with tools, as a Qwen model reads it"
show hone render --dialect hermes --tokenizer $tokenizer examples/tour/conversation.json

title "5. What the model writes back, parsed into a call (and one that was cut off)"
show hone parse --dialect hermes --file examples/tour/turn.txt
show hone parse --dialect hermes '<tool_call>{"name": "weather", "argum' || true

title "6. A recorded group of three samples: who wrote what, and which tokens get the credit"
show build/release/examples/hone_tour $tokenizer examples/tour/conversation.json runs/tour
show hone show runs/tour

title "7. The same group, by two methods of credit: only one keeps the outcome off the calls"
show hone credit explain runs/tour --method toolpo-split --against grpo

title "8. Tools: code in the sandbox, and what an agent gets when the world is not kind"
show hone tools call python '{"code": "sum(n * n for n in range(10))"}'
show hone tools call calculator '{"expression": "1/3"}' --fault rate_limit,attempts=1,retry_after_ms=50
show hone tools call calculator '{"expresion": "1/3"}' || true

title "9. A place to practise: what the tasks of the desk are"
show hone env tasks desk --split dev -n 1

title "10. Something that learns: sequences modulo 9 from reward alone (200 rounds of 800; examples/digits.cpp)"
show build/release/examples/hone_digits --rounds 200

title "That was the tour."
cat <<'END'
The program is build/release/hone. Next:
  build/release/hone --help           all commands
  build/release/examples/hone_digits  learn it to the end, half a minute
  ./test.sh                           the tests
  docs/concepts.md                    the words, in the order the data goes
  docs/architecture.md                the house on one page
END
