#pragma once

// Kernels that are started before the one before them has ended, so that their beginning, and
// copies of what no kernel changes, cost nothing. Such a kernel calls WaitForKernelBefore ahead of
// everything that another kernel writes or reads; then all that came before has ended, too.

#include <cuda_runtime.h>

#include "engine/kernels/cuda/context.h"

namespace hone::cuda {

__device__ __forceinline__ void WaitForKernelBefore() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
// Has an effect once all blocks have called it or ended, and only on kernels that were launched by
// LaunchEarly.
__device__ __forceinline__ void LetNextKernelStart() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

struct EarlyLaunch {
  const char* what;  // of the call, for messages
  dim3 grid, block;
  int bytes = 0;  // of shared memory, asked for at the launch
  unsigned cluster = 1;
};

// Whether it could be launched; the device has not failed if not.
template <typename... Parameters, typename... Arguments>
cudaError_t TryLaunchEarly(DeviceContext* context, const EarlyLaunch& how,
                           void (*kernel)(Parameters...), const Arguments&... arguments) {
  const cudaError_t status =
      AllowSharedMemory(*context, reinterpret_cast<const void*>(kernel), how.bytes);
  if (status != cudaSuccess) return status;
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {how.cluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = how.grid;
  config.blockDim = how.block;
  config.dynamicSmemBytes = static_cast<size_t>(how.bytes);
  config.stream = context->stream;
  config.attrs = attributes;
  config.numAttrs = how.cluster > 1 ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

template <typename... Parameters, typename... Arguments>
void LaunchEarly(DeviceContext* context, const EarlyLaunch& how, void (*kernel)(Parameters...),
                 const Arguments&... arguments) {
  Check(context, TryLaunchEarly(context, how, kernel, arguments...), how.what);
}

}  // namespace hone::cuda
