#!/usr/bin/env bash
# A short tour of what Hone is made of: text, trees, credit, tools, tasks, and something small that learns.
set -euo pipefail
cd "$(dirname "$0")/../.."

title() { printf '\n\033[1m%s\033[0m\n' "$*" | { [ -t 1 ] && cat || sed 's/\x1b\[[0-9;]*m//g'; }; }
show() { printf '$ %s\n' "$*"; "$@"; }

./dev build release hone hone_tour hone_digits
PATH=$PWD/build/release:$PATH
tokenizer=tests/golden/tokenizer

title "1. Text to tokens: the ids are those of Hugging Face's tokenizers"
show hone tokenize --tokenizer $tokenizer "Will it rain in Paris tomorrow?<|im_end|>"

title "2. A conversation with tools, as a Qwen model reads it"
show hone render --dialect hermes --tokenizer $tokenizer examples/tour/conversation.json

title "3. What the model writes back, parsed into a call (and one that was cut off)"
show hone parse --dialect hermes --file examples/tour/turn.txt
show hone parse --dialect hermes '<tool_call>{"name": "weather", "argum' || true

title "4. A recorded group of three samples: who wrote what, and which tokens get the credit"
show build/release/examples/hone_tour $tokenizer examples/tour/conversation.json runs/tour
show hone show runs/tour

title "5. The same group, by two methods of credit: only one keeps the outcome off the calls"
show hone credit explain runs/tour --method toolpo-split --against grpo

title "6. Tools: code in the sandbox, and what an agent gets when the world is not kind"
show hone tools call python '{"code": "sum(n * n for n in range(10))"}'
show hone tools call calculator '{"expression": "1/3"}' --fault rate_limit,attempts=1,retry_after_ms=50
show hone tools call calculator '{"expresion": "1/3"}' || true

title "7. A place to practise: what the tasks of the desk are"
show hone env tasks desk --split dev -n 1

title "8. Something that learns: sequences modulo 9 from reward alone (200 rounds of 800; examples/digits.cpp)"
show build/release/examples/hone_digits --rounds 200
