// How many threads make sense here: physical cores within the affinity mask and the cgroup's CPU quota.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace crossbill::engine {

/// More threads than this are taken for a slip of the pen.
inline constexpr int kMostThreads = 1024;

/// CPUs that this thread may run on (sched_getaffinity, machines of any size); empty if it can't be asked.
std::vector<int> allowed_cpus();

/// Physical cores among `cpus`: hardware threads of one core, as /sys/devices/system/cpu lists them, count
/// once. A CPU of which nothing is known is a core. `root` stands for "/", so that tests can lay out a
/// machine.
int physical_cores(std::span<const int> cpus, const std::filesystem::path& root = "/");

/// CPUs' worth of time that the cgroup of this process may use, for example 1.5; the smallest limit on the
/// way from its group up to the root counts. Reads cgroup v2 (cpu.max) and v1 (cpu.cfs_quota_us); absent: no
/// limit.
std::optional<double> cgroup_cpu_quota(const std::filesystem::path& root = "/");

/// min(physical_cores(cpus), ceil(quota)), at least 1.
int automatic_threads(std::span<const int> cpus, const std::filesystem::path& root = "/");

/// The number that a text like CROSSBILL_THREADS holds: an integer from 1 to kMostThreads, else absent.
std::optional<int> parse_thread_count(const char* text);

}  // namespace crossbill::engine
