#include "engine/thread_count.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#if defined(__linux__)
#include <cerrno>
#include <memory>

#include <sched.h>
#endif

namespace crossbill::engine {
namespace {

std::optional<std::string> first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

/// A limit of one group: CPUs' worth of time, or absent where there is none.
std::optional<double> quota_over_period(const std::string& quota, const std::string& period) {
  const double q = std::strtod(quota.c_str(), nullptr);  // "max" and "-1" are no limit
  const double p = std::strtod(period.c_str(), nullptr);
  if (!(q > 0) || !(p > 0)) return std::nullopt;
  return q / p;
}

std::optional<double> group_quota_v2(const std::filesystem::path& group) {
  const auto line = first_line(group / "cpu.max");
  if (!line) return std::nullopt;
  std::istringstream fields(*line);
  std::string quota, period;
  fields >> quota >> period;
  return quota_over_period(quota, period);
}

std::optional<double> group_quota_v1(const std::filesystem::path& group) {
  const auto quota = first_line(group / "cpu.cfs_quota_us");
  const auto period = first_line(group / "cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;
  return quota_over_period(*quota, *period);
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

/// mountinfo writes a space as \040, and so on.
std::string unescape_octal(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// Where a cgroup hierarchy is mounted, and which of its groups shows there as the top.
struct CgroupMount {
  std::filesystem::path top;
  std::filesystem::path point;
};

/// The mount of cgroup v2, or of the v1 hierarchy with the cpu controller.
std::optional<CgroupMount> find_cgroup_mount(const std::filesystem::path& root, bool v2) {
  std::ifstream in(root / "proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    // id parent device top point options [optional fields] - type source super-options
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream left(line.substr(0, dash)), right(line.substr(dash + 3));
    std::string id, parent, device, top, point, type, source, super_options;
    left >> id >> parent >> device >> top >> point;
    right >> type >> source >> super_options;
    if (v2 ? type == "cgroup2" : type == "cgroup" && has_word(super_options, "cpu")) {
      return CgroupMount{unescape_octal(top), unescape_octal(point)};
    }
  }
  return std::nullopt;
}

/// The smallest limit from `group` up to the mounted top. Groups that can't be seen from here are passed
/// over: inside a container the path may be the host's, while the mount shows the container's group as its
/// top.
std::optional<double> smallest_quota(const std::filesystem::path& root, const CgroupMount& mount,
                                     const std::string& group, bool v2) {
  std::filesystem::path below = std::filesystem::path(group).lexically_normal().relative_path();
  const auto from_top = std::filesystem::path(group).lexically_relative(mount.top);
  if (!from_top.empty() && *from_top.begin() != "..") below = from_top;
  std::optional<double> smallest;
  const std::filesystem::path point = root / mount.point.relative_path();
  std::filesystem::path walked = point;
  const auto look = [&] {
    const auto quota = v2 ? group_quota_v2(walked) : group_quota_v1(walked);
    if (quota && (!smallest || *quota < *smallest)) smallest = quota;
  };
  look();
  for (const auto& part : below) {
    if (part == "." || part == ".." || part.empty()) continue;
    walked /= part;
    look();
  }
  return smallest;
}

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
#if defined(__linux__)
  // The kernel refuses a mask smaller than its own with EINVAL; its size can't be asked otherwise.
  for (std::size_t size = 1024; size <= 1u << 20; size *= 2) {
    std::vector<unsigned char> storage(CPU_ALLOC_SIZE(size) + alignof(cpu_set_t));
    void* aligned = storage.data();
    std::size_t space = storage.size();
    std::align(alignof(cpu_set_t), CPU_ALLOC_SIZE(size), aligned, space);
    auto* mask = static_cast<cpu_set_t*>(aligned);
    if (sched_getaffinity(0, CPU_ALLOC_SIZE(size), mask) == 0) {
      for (std::size_t cpu = 0; cpu < size; ++cpu) {
        if (CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(size), mask)) cpus.push_back(static_cast<int>(cpu));
      }
      return cpus;
    }
    if (errno != EINVAL) break;
  }
#endif
  return cpus;
}

int physical_cores(std::span<const int> cpus, const std::filesystem::path& root) {
  std::set<std::string> cores;  // a core is known by the list of its hardware threads, for example "3,11"
  for (const int cpu : cpus) {
    const auto topology = root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology";
    auto siblings = first_line(topology / "core_cpus_list");
    if (!siblings) siblings = first_line(topology / "thread_siblings_list");  // the name before Linux 5.3
    cores.insert(siblings.value_or("cpu" + std::to_string(cpu)));
  }
  return static_cast<int>(cores.size());
}

std::optional<double> cgroup_cpu_quota(const std::filesystem::path& root) {
  std::optional<double> smallest;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // hierarchy:controllers:group, v2 is "0::group"
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool v2 = controllers.empty();
    if (!v2 && !has_word(controllers, "cpu")) continue;
    const auto mount = find_cgroup_mount(root, v2);
    if (!mount) continue;
    const auto quota = smallest_quota(root, *mount, line.substr(second + 1), v2);
    if (quota && (!smallest || *quota < *smallest)) smallest = quota;
  }
  return smallest;
}

int automatic_threads(std::span<const int> cpus, const std::filesystem::path& root) {
  int threads = physical_cores(cpus, root);
  if (cpus.empty()) threads = static_cast<int>(std::thread::hardware_concurrency());
  if (const auto quota = cgroup_cpu_quota(root); quota && *quota < threads) {
    threads = static_cast<int>(std::ceil(*quota));
  }
  return std::clamp(threads, 1, kMostThreads);
}

std::optional<int> parse_thread_count(const char* text) {
  if (text == nullptr) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stop != end || value < 1 || value > kMostThreads) return std::nullopt;
  return value;
}

}  // namespace crossbill::engine
