#include "envs/share.h"

namespace hone {

Share ShareOf(Split split) {
  if (split == Split::kTrain) return Share::kTrain;
  return split == Split::kDev ? Share::kDev : Share::kTest;
}

Share ShareOfHash(uint64_t hash) {
  switch (hash % 10) {
    case 0: return Share::kDev;
    case 1:
    case 2: return Share::kTest;
    default: return Share::kTrain;
  }
}

}  // namespace hone
