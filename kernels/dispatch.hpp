// Which kernel sets this build has, which this machine can run, and the choice between them.
#pragma once

#include <span>
#include <string_view>

#include "kernels/kernel_set.hpp"

namespace crossbill::kernels {

/// Sets compiled into this build, narrowest ("portable") first.
std::span<const KernelSet* const> built_kernel_sets() noexcept;
/// Those of them that this CPU and OS can run, narrowest first; never empty.
std::span<const KernelSet* const> available_kernel_sets() noexcept;
/// The last of the available ones.
const KernelSet& best_kernel_set() noexcept;
/// An available set by name; null if it is unknown or this machine lacks it.
const KernelSet* find_available(std::string_view name) noexcept;

}  // namespace crossbill::kernels
