// What goes on between the ids and the logits, written down so that a wrong step can be found.
#pragma once

#include <vector>

namespace crossbill::engine {

/// Every hidden state of one batch; rows lie one after the other without padding.
struct HiddenTrace {
  std::vector<std::vector<double>> states;  ///< [1 + layers] of [tokens][hidden]: embeddings, then each layer
  std::vector<double> pooled;               ///< [pairs][hidden], after tanh
};

}  // namespace crossbill::engine
