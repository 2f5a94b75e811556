#!/usr/bin/env bash
# Runs the kernel tests, with reduced sizes, on an emulated machine that has the instruction sets which this CPU
# lacks. CROSSBILL_EMULATOR names a program that is called as
#
#   $CROSSBILL_EMULATOR -t SECONDS -e VARIABLE=VALUE PROGRAM [arguments]
#
# and runs PROGRAM there; it exits with 125 if it can't be set up. Exit 77 says that nothing was run, and why.
#
#   run_emulated.sh [--skip REASON] KERNELS_TEST
set -euo pipefail
if [ "$1" = --skip ]; then
  echo "skipped: $2"
  exit 77
fi
program=$1

if [ -z "${CROSSBILL_EMULATOR:-}" ]; then
  echo "skipped: CROSSBILL_EMULATOR names no emulator"
  exit 77
fi
native=yes
for feature in avx512f avx512bw avx512dq avx512vl; do
  grep -qw "$feature" /proc/cpuinfo || native=no
done
if [ "$native" = yes ]; then
  echo "skipped: this CPU has AVX-512 itself, so kernels_test has covered every kernel set"
  exit 77
fi

output=$("$CROSSBILL_EMULATOR" -t 900 -e CROSSBILL_TEST_QUICK=1 "$program" --gtest_brief=1) || {
  status=$?
  echo "$output"
  if [ "$status" = 125 ]; then
    echo "skipped: the emulator can't be set up on this machine; its messages stand above"
    exit 77
  fi
  exit "$status"
}
echo "$output"
if ! grep -q '^kernel sets covered:.* avx512' <<< "$output"; then
  echo "the emulated machine did not run the avx512 set"
  exit 1
fi
