#!/usr/bin/env bash
# Looks into compiled objects for what would let wide instructions run on a CPU that lacks them (docs/design.md,
# "Kernels"). Exit 77 says that this build can't be judged, and why.
#
#   check_objects.sh [--skip REASON] OBJECT...
#
# Objects named after an instruction set (portable.cpp.o, avx2.cpp.o, avx512.cpp.o) must
#   * export one symbol, their kernel set;
#   * hold no weak or COMDAT symbol: the linker would keep one copy for everybody, perhaps this one;
#   * hold no static constructor: it would run before any CPU was asked;
#   * call nothing but memcpy and the like.
# All other objects, and portable.cpp.o, must hold no VEX or EVEX instruction.
set -euo pipefail

if [ "${1:-}" = --skip ]; then
  echo "skipped: $2"
  exit 77
fi
failures=0
fail() {
  echo "$1"
  failures=$((failures + 1))
}

check_kernel_set() {
  local object=$1 exported weak groups constructors foreign
  exported=$(nm --extern-only --defined-only --format=posix "$object" | awk '{print $1}')
  case "$exported" in
    *_setE) [ "$(wc -l <<< "$exported")" = 1 ] || fail "$object exports more than its kernel set: $exported" ;;
    *) fail "$object does not export a kernel set but: $exported" ;;
  esac
  weak=$(nm --format=posix "$object" | awk '$2 ~ /^[wWvVu]$/ {print $1}')
  [ -z "$weak" ] || fail "$object has weak symbols: $weak"
  groups=$(readelf --wide --section-groups "$object" | grep COMDAT || true)
  [ -z "$groups" ] || fail "$object has COMDAT groups: $groups"
  constructors=$(readelf --wide --sections "$object" | grep -E '\.(init_array|ctors|preinit_array)' || true)
  [ -z "$constructors" ] || fail "$object has static constructors"
  foreign=$(nm --undefined-only --format=posix "$object" | awk '{print $1}' |
    grep -vxE 'memcpy|memset|memmove|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail' || true)
  [ -z "$foreign" ] || fail "$object calls $foreign"
}

check_baseline() {
  local object=$1 wide
  # AVX mnemonics begin with v and have vector registers; ymm, zmm and opmask registers exist nowhere else.
  wide=$(objdump --disassemble --no-show-raw-insn "$object" |
    grep -E $'\tv[a-z0-9]+ .*%[xyz]mm|%[yz]mm|%k[0-7]|\tvzero' | head -n 3 || true)
  [ -z "$wide" ] || fail "$object has AVX instructions:
$wide"
}

checked=0
for object in "$@"; do
  name=$(basename "$object")
  case $name in
    portable.cpp.o) check_kernel_set "$object"; check_baseline "$object" ;;
    avx*.cpp.o) check_kernel_set "$object" ;;
    *) check_baseline "$object" ;;
  esac
  checked=$((checked + 1))
done
echo "$checked objects checked, $failures faults"
[ "$checked" -gt 0 ] && [ "$failures" = 0 ]
