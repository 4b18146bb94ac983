#!/usr/bin/env bash
# Runs a test program of the engine, the tests of devices alone; where a GPU is seen, also those of the whole engine, on it.
#   scripts/device_tests.sh build/release/src/engine/hone_engine_test [GoogleTest's options]
if compgen -G '/dev/nvidia[0-9]*' >/dev/null; then
  export HONE_TEST_DEVICE=${HONE_TEST_DEVICE:-cuda} GTEST_FILTER='*Device*:Engine.*:Sampler.*:Lora.*'
else
  echo "No GPU is seen here: the tests that want one say that they are skipped."
  export GTEST_FILTER='*Device*'
fi
exec "$@"
