#include "engine/packed_batch.hpp"

#include <algorithm>
#include <cstddef>

namespace crossbill::engine {

void PackedBatch::clear() {
  token_ids.clear();
  type_ids.clear();
  offsets.assign(1, 0);
}

void PackedBatch::append(const EncodedPair& pair) {
  token_ids.insert(token_ids.end(), pair.ids.begin(), pair.ids.end());
  type_ids.insert(type_ids.end(), pair.type_ids.begin(), pair.type_ids.end());
  offsets.push_back(token_ids.size());
}

std::size_t PackedBatch::longest() const {
  std::size_t tokens = 0;
  for (std::size_t pair = 0; pair < pairs(); ++pair) tokens = std::max(tokens, length(pair));
  return tokens;
}

}  // namespace crossbill::engine
