// The list of kernel sets and which of them this machine can run.
#include "kernels/dispatch.hpp"

#include <array>
#include <cstddef>

#include "kernels/built_sets.hpp"
#include "kernels/cpu_features.hpp"

namespace crossbill::kernels {

namespace {

/// Narrowest first; CROSSBILL_X86_KERNELS is set by the build where it compiles the x86-64 files.
constexpr std::array kBuilt = {
    &portable_set,
#if defined(CROSSBILL_X86_KERNELS)
    &avx2_set,
    &avx512_set,
#endif
};

struct Available {
  std::array<const KernelSet*, kBuilt.size()> sets{};
  std::size_t count = 0;
};

Available find_available_sets() {
  Available available;
  const std::uint32_t features = detected_cpu_features();
  for (const KernelSet* set : kBuilt) {
    if ((set->required & ~features) == 0) {
      available.sets[available.count++] = set;
    }
  }
  return available;
}

}  // namespace

std::span<const KernelSet* const> built_kernel_sets() noexcept {
  return kBuilt;
}

std::span<const KernelSet* const> available_kernel_sets() noexcept {
  static const Available available = find_available_sets();
  return std::span(available.sets).first(available.count);
}

const KernelSet& best_kernel_set() noexcept {
  return *available_kernel_sets().back();
}

const KernelSet* find_available(std::string_view name) noexcept {
  for (const KernelSet* set : available_kernel_sets()) {
    if (name == set->name) {
      return set;
    }
  }
  return nullptr;
}

}  // namespace crossbill::kernels
