#!/usr/bin/env bash
# Installs what is missing, builds, and runs the tests. Safe to run again.
set -euo pipefail
cd "$(dirname "$0")"
echo "Packages, release build, layer check, then every test that is not labelled slow."
./dev setup
./dev build release
scripts/check_layers.py
[ -d "${HONE_SHARED:-../shared}/data" ] ||
  echo "Note: the public benchmark data is not here, so the tests that compare with it are skipped and say so."
./dev test release "$@"
