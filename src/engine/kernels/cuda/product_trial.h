#pragma once

// Which ways to compute a product give a row the same bits for any number of rows: they are tried
// on made-up numbers, and compared.

#include <cuda_runtime.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/device/device_room.h"
#include "engine/kernels/cuda/cublas_lt.h"

namespace hone::cuda {

inline constexpr int64_t kFewestRows = 16;  // of a row class
inline constexpr float kNever = 1e30f;      // milliseconds

// In how many parts of equal length k is summed: each from 0, and the sums are added one after the
// other, behind the addend. It belongs to what the product is, for any number of rows. Long sums of
// narrow outputs are halved, for few rows do not keep the GPU busy otherwise.
int PartsOf(const DeviceProductShape& shape);
// A product of kForward with its parts; false when it could not be started.
bool RunWay(DeviceContext* context, const DeviceProduct& p, const Way& way, int parts);

// Numbers in (-1, 1) that look random.
void FillMadeUp(DeviceContext* context, void* bfloat16s, int64_t count, uint32_t seed);
// Whether `bytes` bytes, an even number, are the same. `differs` is room of the device.
bool SameBytes(DeviceContext* context, const void* x, const void* y, int64_t bytes, int* differs);
// The shortest of some times that some runs take together, in milliseconds; `run` is told which
// it is. They are recorded first: one by one, the host would be slower than small kernels are.
float TimeOf(DeviceContext* context, cudaEvent_t begin, cudaEvent_t end,
             const std::function<void(int)>& run);

// Tries ways to compute products of one shape.
class Trial {
 public:
  // With shape.most_rows rows.
  Trial(DeviceContext* context, const DeviceProductShape& shape);
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  bool ok() const { return ok_; }  // false: there was not so much memory

  int64_t rows() const { return shape_.most_rows; }
  const DeviceProductShape& shape() const { return shape_; }
  // cuBLASLt's, then our own.
  std::vector<Way> For(int64_t rows) const;
  // The class of bits that a way belongs to: the number of one that was seen before, or a new one
  // where the way computes all rows; -1 when it fails, or there are too many.
  int ClassOf(const Way& way);
  int classes() const { return static_cast<int>(expected_.size()); }
  // Whether some rows, computed by themselves, have the bits that they have among all.
  bool SameBits(const Way& way, int64_t rows, int64_t from, int of);
  // With weights that are not in the cache, as a model's are not.
  float Milliseconds(const Way& way, int64_t rows);

 private:
  static constexpr size_t kMostClasses = kMostProductClasses;

  // Some rows, from row `from` of the made-up ones on. The addend is the result's own memory.
  DeviceProduct Rows(int64_t rows, int64_t from, void* out) const;
  bool Compute(const Way& way, int64_t rows, int64_t from, void* out);
  int FindClass(const Way& way);
  // Whether result_ holds the rows from `from` on.
  bool Equal(const void* expected, int64_t from, int64_t rows);

  DeviceContext* context_;
  DeviceProductShape shape_;
  int parts_;
  int64_t copies_ = 1;  // of the weights
  bool ok_ = false;
  void *x_ = nullptr, *weight_ = nullptr, *result_ = nullptr;
  std::vector<void*> expected_;  // per class, of all rows
  std::map<std::string, int> class_of_;
  int* differs_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// The fastest way for each class of row counts, all of one class of bits: of the classes that
// serve every number of rows, the one that loses least against the best of any. Empty when none
// does.
std::vector<RowClass> ChooseClasses(Trial* trial);

}  // namespace hone::cuda
