// The context of a device, its memory and recordings, and the table that the shared object exports.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "engine/device/device_room.h"
#include "engine/kernels/cuda/context.h"

namespace hone {
namespace cuda {

void Check(DeviceContext* context, cudaError_t status, const char* what) {
  if (status == cudaSuccess || !context->error.empty()) return;
  context->error = std::string(what) + ": " + cudaGetErrorString(status);
}

cudaError_t AllowSharedMemory(const DeviceContext& context, const void* kernel, int bytes) {
  if (bytes <= 48 * 1024) return cudaSuccess;
  static std::mutex mutex;
  static std::map<std::pair<int, const void*>, int> allowed;
  const std::lock_guard<std::mutex> lock(mutex);
  int& most = allowed[{context.index, kernel}];
  if (bytes <= most) return cudaSuccess;
  const cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status == cudaSuccess) most = bytes;
  return status;
}

namespace {

constexpr int64_t kScratchBytes = int64_t{1} << 20;
constexpr int kOldestCapability = 90;  // what the kernels are built for: Hopper

void Say(const std::string& text, char* error, int64_t room) {
  if (error != nullptr && room > 0)
    std::snprintf(error, static_cast<size_t>(room), "%s", text.c_str());
}

// work_end is passed when all is done that was called so far.
void MarkEnd(DeviceContext* context) {
  if (!context->at_work || context->end_is_known) return;
  Check(context, cudaEventRecord(context->work_end, context->stream), "busy_seconds");
  context->end_is_known = true;
}

// After work_end was passed.
void EndWork(DeviceContext* context) {
  float milliseconds = 0;
  context->at_work = context->end_is_known = false;
  if (!context->error.empty()) return;
  Check(context, cudaEventElapsedTime(&milliseconds, context->work_begin, context->work_end),
        "busy_seconds");
  context->busy_seconds += milliseconds / 1e3;
}

// A span of work begins with the first call that reaches an idle device. What is recorded runs when
// it is launched.
void BeginWork(DeviceContext* context) {
  if (context->at_work && context->end_is_known) {
    if (cudaEventQuery(context->work_end) == cudaSuccess) EndWork(context);
    cudaGetLastError();  // that it has not ended is no error
  }
  context->end_is_known = false;
  if (context->at_work || context->records) return;
  context->at_work = true;
  cudaSetDevice(context->index);
  Check(context, cudaEventRecord(context->work_begin, context->stream), "busy_seconds");
}

// An entry of the table that gives the device something to do.
template <auto call>
struct Work;
template <typename... Arguments, void (*call)(DeviceContext*, Arguments...)>
struct Work<call> {
  static void Do(DeviceContext* context, Arguments... arguments) {
    BeginWork(context);
    call(context, arguments...);
  }
};

void Close(DeviceContext* context) {
  if (context == nullptr) return;
  cudaSetDevice(context->index);
  for (const cudaEvent_t event : {context->work_begin, context->work_end}) {
    if (event != nullptr) cudaEventDestroy(event);
  }
  CloseProducts(context->products);
  cudaFree(context->scratch);
  if (context->stream != nullptr) cudaStreamDestroy(context->stream);
  delete context;
}

DeviceContext* Open(int32_t index, char* error, int64_t room) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (driver == 0) {
      Say("this machine has no NVIDIA driver: install one, or use --device cpu", error, room);
      return nullptr;
    }
    Say("the NVIDIA driver is too old for CUDA " + std::to_string(CUDART_VERSION / 1000) + "." +
            std::to_string(CUDART_VERSION % 1000 / 10) + " (it is made for " +
            std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10) +
            "): install a newer driver, or use --device cpu",
        error, room);
    return nullptr;
  }
  if (status != cudaSuccess || count == 0) {
    Say("no NVIDIA GPU answers" +
            (status == cudaSuccess ? std::string()
                                   : " (" + std::string(cudaGetErrorString(status)) + ")") +
            ": look at nvidia-smi, or use --device cpu",
        error, room);
    return nullptr;
  }
  auto* context = new DeviceContext;
  context->index = index % count;
  std::string why;
  if (cudaSetDevice(context->index) != cudaSuccess ||
      cudaGetDeviceProperties(&context->properties, context->index) != cudaSuccess ||
      cudaStreamCreateWithFlags(&context->stream, cudaStreamNonBlocking) != cudaSuccess ||
      cudaEventCreate(&context->work_begin) != cudaSuccess ||
      cudaEventCreate(&context->work_end) != cudaSuccess ||
      cudaMalloc(&context->scratch, kScratchBytes) != cudaSuccess) {
    why = std::string("the GPU could not be opened (") + cudaGetErrorString(cudaGetLastError()) +
          "): is it busy or full? nvidia-smi shows who uses it";
  } else if (context->properties.major * 10 + context->properties.minor < kOldestCapability) {
    why = std::string(context->properties.name) +
          " is older than Hopper (compute capability 9.0), which Hone's kernels are made for: use "
          "--device cpu";
  } else {
    context->scratch_bytes = kScratchBytes;
    context->products = OpenProducts(context, &why);
  }
  if (!why.empty()) {
    Say(why, error, room);
    Close(context);
    return nullptr;
  }
  return context;
}

void Info(DeviceContext* context, DeviceInfo* info) {
  *info = {};
  const size_t length = std::min(std::strlen(context->properties.name), sizeof info->name - 1);
  std::memcpy(info->name, context->properties.name, length);  // the rest is zero
  info->capability = context->properties.major * 10 + context->properties.minor;
  info->multiprocessors = context->properties.multiProcessorCount;
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  info->memory = static_cast<int64_t>(total);
  info->free_memory = static_cast<int64_t>(free);
  cudaDriverGetVersion(&info->driver);
  cudaRuntimeGetVersion(&info->runtime);
  info->product_library = ProductLibraryVersion(context->products);
}

void* Allocate(DeviceContext* context, int64_t bytes) {
  void* memory = nullptr;
  cudaSetDevice(context->index);  // the caller may be another thread than the one before
  if (cudaMalloc(&memory, static_cast<size_t>(bytes)) == cudaSuccess) return memory;
  cudaGetLastError();  // being full is no failure of the device
  return nullptr;
}

void Release(DeviceContext* context, void* memory) { Check(context, cudaFree(memory), "release"); }

void* AllocateHost(DeviceContext* context, int64_t bytes) {
  void* memory = nullptr;
  cudaSetDevice(context->index);
  if (cudaMallocHost(&memory, static_cast<size_t>(bytes)) == cudaSuccess) return memory;
  cudaGetLastError();
  return nullptr;
}

void ReleaseHost(DeviceContext* context, void* memory) {
  Check(context, cudaFreeHost(memory), "release_host");
}

void Upload(DeviceContext* context, const void* from, int64_t bytes, void* to) {
  cudaSetDevice(context->index);
  Check(context,
        cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyHostToDevice,
                        context->stream),
        "upload");
}

void DownloadLater(DeviceContext* context, const void* from, int64_t bytes, void* to) {
  Check(context,
        cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToHost,
                        context->stream),
        "download");
}

bool Synchronize(DeviceContext* context) {
  MarkEnd(context);
  Check(context, cudaStreamSynchronize(context->stream), "synchronize");
  if (context->at_work) EndWork(context);
  return context->error.empty();
}

bool Download(DeviceContext* context, const void* from, int64_t bytes, void* to) {
  BeginWork(context);
  DownloadLater(context, from, bytes, to);
  return Synchronize(context);
}

bool DownloadRows(DeviceContext* context, const DeviceRows& rows, void* to) {
  BeginWork(context);
  Check(context,
        cudaMemcpy2DAsync(to, static_cast<size_t>(rows.bytes), rows.from,
                          static_cast<size_t>(rows.row_bytes), static_cast<size_t>(rows.bytes),
                          static_cast<size_t>(rows.rows), cudaMemcpyDeviceToHost, context->stream),
        "download_rows");
  return Synchronize(context);
}

void Copy(DeviceContext* context, const void* from, int64_t bytes, void* to) {
  Check(context,
        cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice,
                        context->stream),
        "copy");
}

void Fill(DeviceContext* context, void* to, uint8_t value, int64_t bytes) {
  Check(context, cudaMemsetAsync(to, value, static_cast<size_t>(bytes), context->stream), "fill");
}

const char* Error(DeviceContext* context) { return context->error.c_str(); }

void BeginRecording(DeviceContext* context) {
  context->records = true;
  Check(context, cudaStreamBeginCapture(context->stream, cudaStreamCaptureModeThreadLocal),
        "begin_recording");
}

void* EndRecording(DeviceContext* context) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t recording = nullptr;
  Check(context, cudaStreamEndCapture(context->stream, &graph), "end_recording");
  context->records = false;
  if (graph == nullptr) return nullptr;
  Check(context, cudaGraphInstantiate(&recording, graph, 0), "end_recording");
  cudaGraphDestroy(graph);
  return recording;
}

void Launch(DeviceContext* context, void* recording) {
  Check(context, cudaGraphLaunch(static_cast<cudaGraphExec_t>(recording), context->stream),
        "launch");
}

void Forget(DeviceContext* context, void* recording) {
  Check(context, cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(recording)), "forget");
}

constexpr DeviceApi kApi = {
    .version = kDeviceApiVersion,
    .name = "cuda",
    .open = &Open,
    .close = &Close,
    .info = &Info,
    .allocate = &Allocate,
    .release = &Release,
    .allocate_host = &AllocateHost,
    .release_host = &ReleaseHost,
    .upload = &Work<&Upload>::Do,
    .download = &Download,
    .download_later = &Work<&DownloadLater>::Do,
    .download_rows = &DownloadRows,
    .copy = &Work<&Copy>::Do,
    .fill = &Work<&Fill>::Do,
    .synchronize = &Synchronize,
    .error = &Error,
    .begin_recording = &BeginRecording,
    .end_recording = &EndRecording,
    .launch = &Work<&Launch>::Do,
    .forget = &Forget,
    .end_work = &MarkEnd,
    .prepare_product = &PrepareProduct,
    .product = &Work<&Product>::Do,
    .product_swiglu = &Work<&ProductSwiGlu>::Do,
    .embed = &Work<&Embed>::Do,
    .rms_norm = &Work<&RmsNorm>::Do,
    .rms_norm_backward = &Work<&RmsNormBackward>::Do,
    .finish_qkv = &Work<&FinishQkv>::Do,
    .finish_qkv_backward = &Work<&FinishQkvBackward>::Do,
    .attend = &Work<&Attend>::Do,
    .attend_backward = &Work<&AttendBackward>::Do,
    .add_bias = &Work<&AddBias>::Do,
    .swiglu = &Work<&SwiGlu>::Do,
    .swiglu_backward = &Work<&SwiGluBackward>::Do,
    .score = &Work<&Score>::Do,
    .score_backward = &Work<&ScoreBackward>::Do,
    .draw = &Work<&Draw>::Do,
    .row_dots = &Work<&RowDots>::Do,
    .row_dots_backward = &Work<&RowDotsBackward>::Do,
    .add_rows = &Work<&AddRows>::Do,
    .sum_rows = &Work<&SumRows>::Do,
    .add_partials = &Work<&AddPartials>::Do,
    .convert = &Work<&Convert>::Do,
    .add_squares = &Work<&AddSquares>::Do,
    .norm_scale = &Work<&NormScale>::Do,
    .adamw = &Work<&AdamW>::Do,
    .momentum = &Work<&Momentum>::Do,
    .orthogonal_room = &OrthogonalRoomBytes,
    .orthogonal_step = &Work<&OrthogonalStep>::Do,
    .mix = &Work<&Mix>::Do,
    .busy_seconds = [](DeviceContext* context) { return context->busy_seconds; }};

}  // namespace
}  // namespace cuda
}  // namespace hone

extern "C" __attribute__((visibility("default"))) const hone::DeviceApi* hone_device_api(
    uint32_t version) {
  return version == hone::kDeviceApiVersion ? &hone::cuda::kApi : nullptr;
}
