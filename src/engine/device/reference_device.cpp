#include "engine/device/reference_device.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "engine/device/device_room.h"
#include "engine/device/reference_kernels.h"

namespace hone {
namespace {

constexpr int64_t kDefaultMebibytes = 1024;

// Pieces of memory, each exactly as large as asked for: a sanitizer sees what is read beside it.
class Allocations {
 public:
  Allocations() = default;
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;
  ~Allocations() {
    for (const auto& [memory, bytes] : pieces_) ::operator delete(memory, kAlignment);
  }

  // All bits set; null where the machine has no more.
  void* Add(int64_t bytes) {
    CHECK(bytes >= 0);
    const auto size = static_cast<size_t>(bytes);
    void* memory = ::operator new(size, kAlignment, std::nothrow);
    if (memory == nullptr) return nullptr;
    std::memset(memory, 0xFF, size);
    pieces_.emplace(static_cast<char*>(memory), bytes);
    used_ += bytes;
    return memory;
  }
  void Remove(void* memory) {
    if (memory == nullptr) return;
    const auto found = pieces_.find(static_cast<char*>(memory));
    CHECK(found != pieces_.end(), "memory is given back that was not taken here");
    used_ -= found->second;
    ::operator delete(memory, kAlignment);
    pieces_.erase(found);
  }
  // Whether all these bytes lie in one piece.
  bool Hold(const void* from, int64_t bytes) const {
    const auto* begin = static_cast<const char*>(from);
    auto next = pieces_.upper_bound(const_cast<char*>(begin));
    if (next == pieces_.begin()) return false;
    const auto& [memory, size] = *--next;
    return begin + bytes <= memory + size;
  }
  int64_t used() const { return used_; }

 private:
  static constexpr std::align_val_t kAlignment{256};  // as CUDA's
  std::map<char*, int64_t> pieces_;
  int64_t used_ = 0;
};

using PreparedShape = std::tuple<int64_t, int64_t, Element, Element, bool>;  // n, k, ..., addend
using RecordedCalls = std::vector<std::function<void()>>;

// DeviceContext stays a name here: a shared object has one of its own, and the two must not be one
// class to the linker.
struct ReferenceContext {
  int64_t memory = 0;  // bytes
  Allocations device, host;
  std::string error;  // the first failure; nothing is done after it
  std::set<PreparedShape> prepared;
  RecordedCalls recording;
  bool records = false;
  double busy_seconds = 0;

  void Fail(std::string why) {
    if (error.empty()) error = std::move(why);
  }
  // Every kernel and every transfer that needs no waiting goes through here.
  void Do(std::function<void()> call) {
    if (!error.empty()) return;
    if (records) {
      recording.push_back(std::move(call));
    } else {
      const FloatMode mode;
      const auto begin = std::chrono::steady_clock::now();
      call();
      busy_seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
  }
  // Whether this may be done now, where `what` must not be recorded.
  bool Outside(const char* what) {
    if (records) Fail(fmt::format("{}: not while calls are recorded", what));
    return error.empty();
  }
  bool Reaches(const char* what, const void* memory_at, int64_t bytes) {
    if (!device.Hold(memory_at, bytes)) {
      Fail(fmt::format("{}: {} bytes reach beyond the device's memory", what, bytes));
    }
    return error.empty();
  }
};

ReferenceContext* ContextOf(DeviceContext* context) {
  return reinterpret_cast<ReferenceContext*>(context);
}

void WriteText(std::string_view text, char* to, int64_t room) {
  if (to == nullptr || room <= 0) return;
  std::snprintf(to, static_cast<size_t>(room), "%.*s", static_cast<int>(text.size()), text.data());
}

DeviceContext* OpenReference(int32_t index, char* error, int64_t room) {
  int64_t mebibytes = kDefaultMebibytes;
  if (const char* asked = std::getenv("HONE_REFERENCE_MEMORY"); asked != nullptr) {
    const char* end = asked + std::strlen(asked);
    const auto read = std::from_chars(asked, end, mebibytes);
    if (read.ec != std::errc() || read.ptr != end || mebibytes < 0) {
      WriteText("HONE_REFERENCE_MEMORY must be a number of MiB; correct it or unset it", error,
                room);
      return nullptr;
    }
  }
  if (index != 0) {
    WriteText("there is one reference device, number 0; ask for that one", error, room);
    return nullptr;
  }
  auto* context = new ReferenceContext;
  context->memory = mebibytes << 20;
  return reinterpret_cast<DeviceContext*>(context);
}

void DescribeReference(DeviceContext* context, DeviceInfo* info) {
  *info = {};
  WriteText("reference device", info->name, sizeof info->name);
  info->multiprocessors = 1;
  info->memory = ContextOf(context)->memory;
  info->free_memory = info->memory - ContextOf(context)->device.used();
}

void* AllocateMemory(DeviceContext* context, int64_t bytes) {
  ReferenceContext& c = *ContextOf(context);
  if (!c.Outside("allocate") || bytes > c.memory - c.device.used()) return nullptr;
  return c.device.Add(bytes);
}

void UploadBytes(DeviceContext* context, const void* from_at, int64_t bytes, void* to) {
  ReferenceContext& c = *ContextOf(context);
  if (bytes == 0 || !c.Reaches("upload", to, bytes)) return;
  // A recording reads what is there when it is launched, which is the host's to keep.
  if (!c.host.Hold(from_at, bytes) && !c.Outside("upload from pageable memory")) return;
  c.Do([=] { std::memcpy(to, from_at, static_cast<size_t>(bytes)); });
}

void DownloadBytesLater(DeviceContext* context, const void* from, int64_t bytes, void* to_at) {
  if (bytes == 0 || !ContextOf(context)->Reaches("download", from, bytes)) return;
  ContextOf(context)->Do([=] { std::memcpy(to_at, from, static_cast<size_t>(bytes)); });
}

bool DownloadBytes(DeviceContext* context, const void* from, int64_t bytes, void* to_at) {
  if (!ContextOf(context)->Outside("download")) return false;
  DownloadBytesLater(context, from, bytes, to_at);
  return ContextOf(context)->error.empty();
}

bool DownloadBytesOfRows(DeviceContext* context, const DeviceRows& rows, void* to_at) {
  for (int64_t r = 0; r < rows.rows; ++r) {
    const char* from = static_cast<const char*>(rows.from) + r * rows.row_bytes;
    char* to = static_cast<char*>(to_at) + r * rows.bytes;
    if (!DownloadBytes(context, from, rows.bytes, to)) return false;
  }
  return ContextOf(context)->Outside("download_rows");
}

void CopyMemory(DeviceContext* context, const void* from, int64_t bytes, void* to) {
  ReferenceContext& c = *ContextOf(context);
  if (bytes == 0 || !c.Reaches("copy", from, bytes) || !c.Reaches("copy", to, bytes)) return;
  c.Do([=] { std::memmove(to, from, static_cast<size_t>(bytes)); });
}

void FillMemory(DeviceContext* context, void* to, uint8_t value, int64_t bytes) {
  if (bytes == 0 || !ContextOf(context)->Reaches("fill", to, bytes)) return;
  ContextOf(context)->Do([=] { std::memset(to, value, static_cast<size_t>(bytes)); });
}

void BeginRecording(DeviceContext* context) {
  if (ContextOf(context)->Outside("begin_recording")) ContextOf(context)->records = true;
}

void* EndRecording(DeviceContext* context) {
  ReferenceContext& c = *ContextOf(context);
  if (!c.records) c.Fail("end_recording: nothing was begun");
  c.records = false;
  return new RecordedCalls(std::exchange(c.recording, {}));
}

void LaunchRecording(DeviceContext* context, void* recording) {
  if (!ContextOf(context)->Outside("launch")) return;
  for (const std::function<void()>& call : *static_cast<const RecordedCalls*>(recording)) {
    ContextOf(context)->Do(call);
  }
}

bool RememberProduct(DeviceContext* context, const DeviceProductShape& shape, char* chosen,
                     int64_t room) {
  if (!ContextOf(context)->Outside("prepare_product")) return false;
  ContextOf(context)->prepared.insert({shape.n, shape.k, shape.input, shape.output, shape.addend});
  WriteText(fmt::format("{}x{}{}{} in order", shape.n, shape.k,
                        shape.output == Element::kF32 ? " f32" : " bf16", shape.addend ? " +" : ""),
            chosen, room);
  return true;
}

void ComputeProduct(DeviceContext* context, const DeviceProduct& p) {
  ReferenceContext& c = *ContextOf(context);
  if (p.form == DeviceProduct::Form::kForward &&
      !c.prepared.contains({p.n, p.k, p.input, p.output, p.addend != nullptr})) {
    c.Fail(fmt::format("product: {}x{}{} was not prepared", p.n, p.k,
                       p.addend == nullptr ? "" : " with an addend"));
  }
  c.Do([p] { reference::Multiply(p); });
}

// An entry of the table: its arguments as the struct that the kernel takes.
template <auto kernel>
struct Entry;
template <typename Call, void (*kernel)(const Call&)>
struct Entry<kernel> {
  template <typename... Arguments>
  static void Do(DeviceContext* context, Arguments... arguments) {
    ContextOf(context)->Do([call = Call{arguments...}] { kernel(call); });
  }
};

constexpr DeviceApi kReferenceApi = {
    .version = kDeviceApiVersion,
    .name = "reference",
    .open = &OpenReference,
    .close = [](DeviceContext* context) { delete ContextOf(context); },
    .info = &DescribeReference,
    .allocate = &AllocateMemory,
    .release = [](DeviceContext* context,
                  void* memory) { ContextOf(context)->device.Remove(memory); },
    .allocate_host = [](DeviceContext* context,
                        int64_t bytes) { return ContextOf(context)->host.Add(bytes); },
    .release_host = [](DeviceContext* context,
                       void* memory) { ContextOf(context)->host.Remove(memory); },
    .upload = &UploadBytes,
    .download = &DownloadBytes,
    .download_later = &DownloadBytesLater,
    .download_rows = &DownloadBytesOfRows,
    .copy = &CopyMemory,
    .fill = &FillMemory,
    .synchronize =
        [](DeviceContext* context) { return ContextOf(context)->Outside("synchronize"); },
    .error = [](DeviceContext* context) { return ContextOf(context)->error.c_str(); },
    .begin_recording = &BeginRecording,
    .end_recording = &EndRecording,
    .launch = &LaunchRecording,
    .forget = [](DeviceContext*,
                 void* recording) { delete static_cast<RecordedCalls*>(recording); },
    .end_work = [](DeviceContext*) {},  // every call ends before it returns
    .prepare_product = &RememberProduct,
    .product = &ComputeProduct,
    .product_swiglu =
        [](DeviceContext* context, const DeviceProduct& product, const DeviceSwiGlu& swiglu) {
          ComputeProduct(context, product);
          ContextOf(context)->Do([swiglu] { reference::SwiGlu(swiglu); });
        },
    .embed = &Entry<&reference::Embed>::Do,
    .rms_norm = &Entry<&reference::RmsNorm>::Do,
    .rms_norm_backward = &Entry<&reference::RmsNormBackward>::Do,
    .finish_qkv = &Entry<&reference::FinishQkv>::Do,
    .finish_qkv_backward = &Entry<&reference::FinishQkvBackward>::Do,
    .attend = &Entry<&reference::Attend>::Do,
    .attend_backward = &Entry<&reference::AttendBackward>::Do,
    .add_bias = &Entry<&reference::AddBias>::Do,
    .swiglu = &Entry<&reference::SwiGlu>::Do,
    .swiglu_backward = &Entry<&reference::SwiGluBackward>::Do,
    .score = &Entry<&reference::Score>::Do,
    .score_backward = &Entry<&reference::ScoreBackward>::Do,
    .draw = &Entry<&reference::Draw>::Do,
    .row_dots = &Entry<&reference::RowDots>::Do,
    .row_dots_backward = &Entry<&reference::RowDotsBackward>::Do,
    .add_rows = &Entry<&reference::AddRows>::Do,
    .sum_rows = &Entry<&reference::SumRows>::Do,
    .add_partials = &Entry<&reference::AddPartials>::Do,
    .convert = &Entry<&reference::Convert>::Do,
    .add_squares = &Entry<&reference::AddSquares>::Do,
    .norm_scale = &Entry<&reference::NormScale>::Do,
    .adamw = &Entry<&reference::AdamW>::Do,
    .momentum = &Entry<&reference::Momentum>::Do,
    .orthogonal_room = &OrthogonalRoomBytes,
    .orthogonal_step = &Entry<&reference::OrthogonalStep>::Do,
    .mix = &Entry<&reference::Mix>::Do,
    .busy_seconds = [](DeviceContext* context) { return ContextOf(context)->busy_seconds; },
};

}  // namespace

const DeviceApi* ReferenceDevice() { return &kReferenceApi; }

}  // namespace hone
