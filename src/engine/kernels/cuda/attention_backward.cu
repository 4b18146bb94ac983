// The gradient of attention: queries first, which gives what keys need of every row.

#include "engine/kernels/cuda/attention_backward.cuh"

namespace hone::cuda {

void AttendBackward(DeviceContext* context, const DeviceAttentionBackward& a) {
  if (a.forward.tiles > 0) QueryGradientsOf(context, a);
  if (a.key_tiles > 0) KeyGradientsOf(context, a);
}

}  // namespace hone::cuda
