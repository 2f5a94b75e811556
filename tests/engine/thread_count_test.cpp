// How many threads are right: laid-out machines in a temporary folder, and this one.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "crossbill/crossbill.hpp"
#include "engine/thread_count.hpp"

namespace crossbill::engine {
namespace {

/// A folder that looks like "/" of some machine.
class Machine : public testing::Test {
 protected:
  Machine() {
    std::string name = (std::filesystem::temp_directory_path() / "crossbill-machine-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~Machine() override { std::filesystem::remove_all(root_); }

  void put(const std::string& file, const std::string& content) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << content << '\n';
  }
  void put_siblings(int cpu, const std::string& siblings, const std::string& file = "core_cpus_list") {
    put("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + file, siblings);
  }
  void mount_v2(const std::string& top = "/", const std::string& point = "/sys/fs/cgroup") {
    put("proc/self/mountinfo", "22 1 0:21 / /proc rw - proc proc rw\n30 23 0:26 " + top + " " + point +
                                   " rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate");
  }

  std::filesystem::path root_;
};

TEST_F(Machine, HardwareThreadsOfOneCoreCountOnce) {
  for (int cpu = 0; cpu < 4; ++cpu) {
    put_siblings(cpu, std::to_string(cpu) + "," + std::to_string(cpu + 4));
    put_siblings(cpu + 4, std::to_string(cpu) + "," + std::to_string(cpu + 4));
  }
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7}, one_core = {2, 6}, no_siblings = {0, 1, 6};
  EXPECT_EQ(physical_cores(all, root_), 4);
  EXPECT_EQ(physical_cores(one_core, root_), 1);
  EXPECT_EQ(physical_cores(no_siblings, root_), 3);
}

TEST_F(Machine, OldKernelsNameTheSiblingsOtherwise) {
  put_siblings(0, "0-1", "thread_siblings_list");
  put_siblings(1, "0-1", "thread_siblings_list");
  const std::vector<int> cpus = {0, 1};
  EXPECT_EQ(physical_cores(cpus, root_), 1);
}

TEST_F(Machine, CpusOfWhichNothingIsKnownAreCores) {
  const std::vector<int> cpus = {0, 1, 1500};
  EXPECT_EQ(physical_cores(cpus, root_), 3);
}

TEST_F(Machine, WithoutCgroupsThereIsNoQuota) {
  EXPECT_EQ(cgroup_cpu_quota(root_), std::nullopt);
}

TEST_F(Machine, CgroupV2QuotaIsReadFromTheOwnGroup) {
  put("proc/self/cgroup", "0::/system.slice/ranker.service");
  mount_v2();
  put("sys/fs/cgroup/system.slice/ranker.service/cpu.max", "150000 100000");
  EXPECT_EQ(cgroup_cpu_quota(root_), 1.5);
}

TEST_F(Machine, CgroupV2WithoutLimitSaysMax) {
  put("proc/self/cgroup", "0::/a");
  mount_v2();
  put("sys/fs/cgroup/a/cpu.max", "max 100000");
  EXPECT_EQ(cgroup_cpu_quota(root_), std::nullopt);
}

TEST_F(Machine, OfNestedGroupsTheSmallestQuotaCounts) {
  put("proc/self/cgroup", "0::/pod/container/worker");
  mount_v2();
  put("sys/fs/cgroup/pod/cpu.max", "200000 100000");
  put("sys/fs/cgroup/pod/container/cpu.max", "800000 100000");
  put("sys/fs/cgroup/pod/container/worker/cpu.max", "max 100000");
  EXPECT_EQ(cgroup_cpu_quota(root_), 2.0);
}

TEST_F(Machine, InAContainerTheMountShowsTheContainersGroup) {
  put("proc/self/cgroup", "0::/");  // a cgroup namespace
  mount_v2();
  put("sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_EQ(cgroup_cpu_quota(root_), 0.5);
}

TEST_F(Machine, AGroupOutsideTheMountIsPassedOver) {
  put("proc/self/cgroup", "0::/../../elsewhere");
  mount_v2();
  put("sys/fs/cgroup/cpu.max", "300000 100000");
  EXPECT_EQ(cgroup_cpu_quota(root_), 3.0);
}

TEST_F(Machine, CgroupV1QuotaIsReadFromTheCpuController) {
  put("proc/self/cgroup", "5:memory:/m\n4:cpuacct,cpu:/docker/abc\n1:name=systemd:/x");
  put("proc/self/mountinfo",
      "40 30 0:35 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "41 30 0:36 / /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct");
  put("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "250000");
  put("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000");
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1");
  put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cgroup_cpu_quota(root_), 2.5);
}

TEST_F(Machine, CgroupV1MountOfASubtreeBeginsAtThatSubtree) {
  put("proc/self/cgroup", "4:cpu:/docker/abc/inner");
  put("proc/self/mountinfo", "41 30 0:36 /docker/abc /cgroups/with\\040space rw - cgroup cgroup rw,cpu");
  put("cgroups/with space/inner/cpu.cfs_quota_us", "100000");
  put("cgroups/with space/inner/cpu.cfs_period_us", "50000");
  EXPECT_EQ(cgroup_cpu_quota(root_), 2.0);
}

TEST_F(Machine, DamagedFilesAreNoQuota) {
  put("proc/self/cgroup", "nonsense\n0::/\n4:cpu");
  put("proc/self/mountinfo", "nonsense\n30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
  for (const char* content : {"", "0 100000", "100000 0", "100000", "-5 -5", "a b"}) {
    put("sys/fs/cgroup/cpu.max", content);
    EXPECT_EQ(cgroup_cpu_quota(root_), std::nullopt) << content;
  }
}

// Case P1: a container's quota counts, not the host's cores.
TEST_F(Machine, ThreadsAreTheSmallerOfCoresAndQuotaRoundedUp) {
  const std::vector<int> sixteen = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, two = {8, 9};
  put("proc/self/cgroup", "0::/");
  mount_v2();
  EXPECT_EQ(automatic_threads(sixteen, root_), 16);
  put("sys/fs/cgroup/cpu.max", "210000 100000");
  EXPECT_EQ(automatic_threads(sixteen, root_), 3);
  EXPECT_EQ(automatic_threads(two, root_), 2);
  put("sys/fs/cgroup/cpu.max", "1000 100000");
  EXPECT_EQ(automatic_threads(sixteen, root_), 1);
}

// Case P2: the affinity mask counts.
TEST(AllowedCpus, AreThoseOfTheAffinityMask) {
  const std::vector<int> cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  std::vector<int> narrowed;
  std::thread([&] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(static_cast<std::size_t>(cpus.back()), &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof(mask), &mask), 0);
    narrowed = allowed_cpus();
  }).join();
  EXPECT_EQ(narrowed, std::vector<int>{cpus.back()});
}

TEST(ThreadCount, IsReadFromTextOnlyIfItMakesSense) {
  EXPECT_EQ(parse_thread_count("3"), 3);
  EXPECT_EQ(parse_thread_count("1024"), 1024);
  for (const char* text : {"", "0", "-2", "1025", "two", "3 ", " 3", "3.5", "99999999999999999999"}) {
    EXPECT_EQ(parse_thread_count(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_thread_count(nullptr), std::nullopt);
}

TEST(ThreadCount, EnvironmentOverridesAndAnInvalidOneIsIgnored) {
  const char* before = std::getenv("CROSSBILL_THREADS");
  const std::string saved = before ? before : "";
  unsetenv("CROSSBILL_THREADS");
  const int automatic = default_threads();
  EXPECT_GE(automatic, 1);
  EXPECT_LE(static_cast<std::size_t>(automatic), allowed_cpus().size());
  setenv("CROSSBILL_THREADS", "7", 1);
  EXPECT_EQ(default_threads(), 7);
  setenv("CROSSBILL_THREADS", "many", 1);
  EXPECT_EQ(default_threads(), automatic);
  if (before) {
    setenv("CROSSBILL_THREADS", saved.c_str(), 1);
  } else {
    unsetenv("CROSSBILL_THREADS");
  }
}

}  // namespace
}  // namespace crossbill::engine
