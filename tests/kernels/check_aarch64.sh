#!/usr/bin/env bash
# Builds the portable kernel set for aarch64, runs it under qemu, and compares the bits of its results with
# those of this machine's portable set. Exit 77 says that the tools for that are not here.
#
#   check_aarch64.sh SOURCE_FOLDER NATIVE_FINGERPRINT_PROGRAM
set -euo pipefail
source_folder=$1
native=$2

for tool in aarch64-linux-gnu-g++ qemu-aarch64; do
  if ! command -v "$tool" > /dev/null; then
    echo "skipped: $tool is not installed, so the aarch64 bits were not compared"
    exit 77
  fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$source_folder" && aarch64-linux-gnu-g++ -std=c++20 -O2 -static -ffp-contract=off -fno-math-errno -I. \
  kernels/attention_scratch.cpp kernels/cpu_features.cpp kernels/dispatch.cpp kernels/panels.cpp \
  kernels/portable.cpp tests/kernels/kernels_fingerprint.cpp -o "$work/fingerprint")

qemu-aarch64 "$work/fingerprint" > "$work/aarch64"
"$native" | grep '^portable ' > "$work/native"
if ! diff "$work/native" "$work/aarch64"; then
  echo "the portable set gives other bits on aarch64 (right) than here (left)"
  exit 1
fi
echo "aarch64 gives the same bits: $(wc -l < "$work/native") functions"
