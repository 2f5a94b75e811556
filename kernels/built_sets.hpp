// The one symbol that each instruction set's file exports.
#pragma once

#include "kernels/kernel_set.hpp"

namespace crossbill::kernels {

extern const KernelSet portable_set;  ///< portable.cpp
extern const KernelSet avx2_set;      ///< avx2.cpp, x86-64 only
extern const KernelSet avx512_set;    ///< avx512.cpp, x86-64 only

}  // namespace crossbill::kernels
