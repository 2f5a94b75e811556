// An array that lies directly against an inaccessible page, so that one element too many is a crash.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>

namespace crossbill::kernels::testing {

/// Where the array lies between its two guard pages.
enum class Side {
  end,    ///< its last element ends at the upper guard page: reads and writes past the end are caught
  start,  ///< its first element starts after the lower guard page: those before the start are caught
};

/// `size` elements, zero at first. With Side::end the address is 64-byte aligned if the size in bytes is a
/// multiple of 64; with Side::start it always is.
template <typename T>
class GuardedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit GuardedArray(std::size_t size, Side side = Side::end) : size_(size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (std::max<std::size_t>(size * sizeof(T), 1) + page - 1) / page * page;
    mapped_ = inner + 2 * page;
    void* memory = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
    base_ = static_cast<std::byte*>(memory);
    if (mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0) {
      munmap(base_, mapped_);
      throw std::bad_alloc();
    }
    std::byte* first = base_ + page + (side == Side::end ? inner - size * sizeof(T) : 0);
    data_ = reinterpret_cast<T*>(first);
  }
  ~GuardedArray() { munmap(base_, mapped_); }
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t index) { return data_[index]; }
  const T& operator[](std::size_t index) const { return data_[index]; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  std::size_t size_;
  std::size_t mapped_ = 0;
  std::byte* base_ = nullptr;
  T* data_ = nullptr;
};

}  // namespace crossbill::kernels::testing
