#pragma once

// What the files of kernels/cuda share: the context of one device, and how failures are kept.

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "engine/device/device_api.h"

namespace hone {

struct Products;  // cublas_lt.h

struct DeviceContext {
  int index = 0;
  cudaDeviceProp properties{};
  cudaStream_t stream = nullptr;
  Products* products = nullptr;
  std::string error;  // the first failure; everything after it is without effect on the host
  // Room that single calls need between kernels; grown outside of recordings only.
  void* scratch = nullptr;
  int64_t scratch_bytes = 0;
  // The span of work under way, DeviceApi::busy_seconds; and those that are over.
  cudaEvent_t work_begin = nullptr, work_end = nullptr;
  bool at_work = false, end_is_known = false, records = false;
  double busy_seconds = 0;
};

namespace cuda {

// Keeps the first failure of a call: "attend: an illegal memory access was encountered".
void Check(DeviceContext* context, cudaError_t status, const char* what);
// To be called after every launch.
inline void Launched(DeviceContext* context, const char* what) {
  Check(context, cudaGetLastError(), what);
}

// Lets a kernel take so many bytes of shared memory per block; nothing needs to be asked for up to
// 48 KiB. The limit belongs to the kernel and not to a stream, so all engines of a process share
// it: it only rises. Lowered between a launch, or a recording, of one thread and the limit that
// this thread had set, it would let that launch fail. Thread-safe.
cudaError_t AllowSharedMemory(const DeviceContext& context, const void* kernel, int bytes);

// products.cu
Products* OpenProducts(DeviceContext* context, std::string* error);
void CloseProducts(Products* products);
int64_t ProductLibraryVersion(const Products* products);
bool PrepareProduct(DeviceContext*, const DeviceProductShape&, char* chosen, int64_t room);
void Product(DeviceContext*, const DeviceProduct&);
void ProductSwiGlu(DeviceContext*, const DeviceProduct&, const DeviceSwiGlu&);
// Any form, shape and type by a plain kernel: one chain per output.
void PlainProductOf(DeviceContext*, const DeviceProduct&);

// gradient_products.cu
// Any form and shape, the same bits for the same call and no more. bfloat16 operands.
void FreeProduct(DeviceContext*, const DeviceProduct&);

// attention.cu, attention_backward.cu
void Attend(DeviceContext*, const DeviceAttention&);
void AttendBackward(DeviceContext*, const DeviceAttentionBackward&);

// distribution.cu, draw.cu
void Score(DeviceContext*, const DeviceDistribution&);
void ScoreBackward(DeviceContext*, const DeviceDistributionBackward&);
void Draw(DeviceContext*, const DeviceDraw&);

// norms.cu, heads.cu
void RmsNorm(DeviceContext*, const DeviceNorm&);
void RmsNormBackward(DeviceContext*, const DeviceNormBackward&);
void FinishQkv(DeviceContext*, const DeviceQkv&);
void FinishQkvBackward(DeviceContext*, const DeviceQkvBackward&);

// rows.cu
void Embed(DeviceContext*, const DeviceEmbedding&);
void AddBias(DeviceContext*, const float* bias, int64_t rows, int64_t n, float* x);
void SwiGlu(DeviceContext*, const DeviceSwiGlu&);
void SwiGluBackward(DeviceContext*, const DeviceSwiGluBackward&);
void RowDots(DeviceContext*, const DeviceDots&);
void RowDotsBackward(DeviceContext*, const DeviceDotsBackward&);
void AddRows(DeviceContext*, const DeviceRowList&);
void SumRows(DeviceContext*, const DeviceRowSums&);
void AddPartials(DeviceContext*, const DevicePartials&);
void Convert(DeviceContext*, const float* from, int64_t n, Element element, void* to);

// update.cu
void AddSquares(DeviceContext*, const float* x, int64_t n, double* squares);
void NormScale(DeviceContext*, const double* squares, double most, double* norm, float* scale);
void AdamW(DeviceContext*, const DeviceAdamW&);
void Momentum(DeviceContext*, const DeviceMomentum&);
void OrthogonalStep(DeviceContext*, const DeviceOrthogonal&);
void Mix(DeviceContext*, const DeviceMix&);

}  // namespace cuda
}  // namespace hone
