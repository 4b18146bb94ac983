#include "engine/device/counting_device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "base/check.h"
#include "engine/device/device_room.h"

namespace hone {
namespace {

// Nothing lies at these addresses; they are as far apart as pieces of memory would be.
struct CountingContext {
  std::map<uintptr_t, int64_t> pieces;
  uintptr_t next = uintptr_t{1} << 32;
  int64_t taken = 0, most_in_trials = 0;
};

CountingContext* CountingOf(DeviceContext* context) {
  return reinterpret_cast<CountingContext*>(context);
}

void* CountMemory(DeviceContext* context, int64_t bytes) {
  CountingContext& c = *CountingOf(context);
  const uintptr_t at = c.next;
  c.next += static_cast<uintptr_t>(AlignedRoom(std::max<int64_t>(bytes, 1)));
  c.pieces.emplace(at, bytes);
  c.taken += bytes;
  return reinterpret_cast<void*>(at);
}

void UncountMemory(DeviceContext* context, void* memory) {
  if (memory == nullptr) return;
  CountingContext& c = *CountingOf(context);
  const auto found = c.pieces.find(reinterpret_cast<uintptr_t>(memory));
  CHECK(found != c.pieces.end(), "memory is given back that was not taken here");
  c.taken -= found->second;
  c.pieces.erase(found);
}

bool CountTrial(DeviceContext* context, const DeviceProductShape& shape, char* chosen,
                int64_t room) {
  CountingContext& c = *CountingOf(context);
  // Float32 has one way to be computed: nothing is tried.
  const int64_t trial = shape.input == Element::kBf16 ? ProductTrialBytes(shape) : 0;
  c.most_in_trials = std::max(c.most_in_trials, c.taken + trial);
  if (room > 0) std::snprintf(chosen, static_cast<size_t>(room), "none");
  return true;
}

void CountGradientTrial(DeviceContext* context, const DeviceProduct& p) {
  if (p.input != Element::kBf16 || !IsLargeGradient(p)) return;
  CountingContext& c = *CountingOf(context);
  c.most_in_trials = std::max(c.most_in_trials, c.taken + GradientTrialBytes(p));
}

bool ReadZeros(DeviceContext*, const void*, int64_t bytes, void* to_at) {
  std::memset(to_at, 0, static_cast<size_t>(bytes));
  return true;
}

bool ReadZeroRows(DeviceContext*, const DeviceRows& rows, void* to_at) {
  std::memset(to_at, 0, static_cast<size_t>(rows.rows * rows.bytes));
  return true;
}

template <typename... Arguments>
void DoNothing(DeviceContext*, Arguments...) {}

constexpr DeviceApi kCountingApi = {
    .version = kDeviceApiVersion,
    .name = "counting",
    .open = [](int32_t, char*,
               int64_t) { return reinterpret_cast<DeviceContext*>(new CountingContext); },
    .close = [](DeviceContext* context) { delete CountingOf(context); },
    .info = [](DeviceContext*, DeviceInfo* info) { *info = {}; },
    .allocate = &CountMemory,
    .release = &UncountMemory,
    .allocate_host = [](DeviceContext*, int64_t bytes) { return ::operator new(bytes); },
    .release_host = [](DeviceContext*, void* memory) { ::operator delete(memory); },
    .upload = &DoNothing,
    .download = &ReadZeros,
    .download_later = [](DeviceContext* context, const void* from, int64_t bytes,
                         void* to_at) { ReadZeros(context, from, bytes, to_at); },
    .download_rows = &ReadZeroRows,
    .copy = &DoNothing,
    .fill = &DoNothing,
    .synchronize = [](DeviceContext*) { return true; },
    .error = [](DeviceContext*) { return ""; },
    .begin_recording = &DoNothing,
    .end_recording = [](DeviceContext*) -> void* { return nullptr; },
    .launch = &DoNothing,
    .forget = &DoNothing,
    .end_work = &DoNothing,
    .prepare_product = &CountTrial,
    .product = &CountGradientTrial,
    .product_swiglu = &DoNothing,
    .embed = &DoNothing,
    .rms_norm = &DoNothing,
    .rms_norm_backward = &DoNothing,
    .finish_qkv = &DoNothing,
    .finish_qkv_backward = &DoNothing,
    .attend = &DoNothing,
    .attend_backward = &DoNothing,
    .add_bias = &DoNothing,
    .swiglu = &DoNothing,
    .swiglu_backward = &DoNothing,
    .score = &DoNothing,
    .score_backward = &DoNothing,
    .draw = &DoNothing,
    .row_dots = &DoNothing,
    .row_dots_backward = &DoNothing,
    .add_rows = &DoNothing,
    .sum_rows = &DoNothing,
    .add_partials = &DoNothing,
    .convert = &DoNothing,
    .add_squares = &DoNothing,
    .norm_scale = &DoNothing,
    .adamw = &DoNothing,
    .momentum = &DoNothing,
    .orthogonal_room = &OrthogonalRoomBytes,
    .orthogonal_step = &DoNothing,
    .mix = &DoNothing,
    .busy_seconds = [](DeviceContext*) { return 0.0; },
};

}  // namespace

const DeviceApi* CountingDevice() { return &kCountingApi; }

int64_t MostWhileProductsWereTried(DeviceContext* context) {
  return CountingOf(context)->most_in_trials;
}

}  // namespace hone
