#include "engine/chunks.hpp"

#include <algorithm>
#include <numeric>

namespace crossbill::engine {

ChunkPlan plan_chunks(std::span<const std::size_t> lengths, int threads, std::size_t limit) {
  ChunkPlan plan;
  plan.order.resize(lengths.size());
  std::iota(plan.order.begin(), plan.order.end(), std::size_t{0});
  std::sort(plan.order.begin(), plan.order.end(), [&](std::size_t a, std::size_t b) {
    return lengths[a] != lengths[b] ? lengths[a] > lengths[b] : a < b;
  });

  std::size_t target = limit;
  if (threads > 1) {  // one thread has nobody to share with
    const std::size_t total = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    target = std::min(limit, total / (4 * static_cast<std::size_t>(threads)));
  }
  std::size_t tokens = target;  // of the chunk being filled; full, so that the first pair opens one
  for (std::size_t i = 0; i < plan.order.size(); ++i) {
    const std::size_t length = lengths[plan.order[i]];
    if (i == 0 || tokens + length > target) {
      plan.starts.push_back(i);
      tokens = 0;
    }
    tokens += length;
  }
  plan.starts.push_back(plan.order.size());
  return plan;
}

}  // namespace crossbill::engine
