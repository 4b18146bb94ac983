#include "engine/device/device.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <vector>

#include <dlfcn.h>

#include <fmt/format.h>

#include "engine/device/reference_device.h"

namespace hone {
namespace {

constexpr char kLibrary[] = "libhone_cuda.so";
constexpr std::array kDeviceKinds = {DeviceKind::kAuto, DeviceKind::kCpu, DeviceKind::kCuda,
                                     DeviceKind::kReference};

// The value of an environment variable; empty where it is not set.
std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::filesystem::path> LibraryPlaces() {
  if (const std::string_view named = Variable("HONE_CUDA_LIBRARY"); !named.empty()) return {named};
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return {};
  const std::filesystem::path folder = program.parent_path();
  return {folder / kLibrary, folder.parent_path() / "lib" / "hone" / kLibrary};
}

Error NoLibrary() {
  if (const std::string_view named = Variable("HONE_CUDA_LIBRARY"); !named.empty()) {
    return Error(ErrorCode::kNotFound,
                 fmt::format("HONE_CUDA_LIBRARY names {}, which is not there; correct it or unset "
                             "it",
                             named));
  }
  return Error(ErrorCode::kNotFound,
               fmt::format("this build of hone has no CUDA side ({} is not beside the program): "
                           "build where nvcc is found, or use --device cpu",
                           kLibrary));
}

Result<const DeviceApi*> ApiOf(const std::filesystem::path& file) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("the CUDA side cannot be opened: {}; build it again (./dev build), or "
                             "use --device cpu",
                             ::dlerror()));
  }
  // It is never closed: contexts and threads of the driver may outlive whoever opened it.
  const auto table = reinterpret_cast<HoneDeviceApiFunction>(::dlsym(library, kDeviceApiSymbol));
  if (table == nullptr) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("{} is not a CUDA side of hone: it has no {}; build it again (./dev "
                             "build), or use --device cpu",
                             file.string(), kDeviceApiSymbol));
  }
  const DeviceApi* api = table(kDeviceApiVersion);
  if (api == nullptr || api->version != kDeviceApiVersion) {
    return Error(ErrorCode::kVersion,
                 fmt::format("{} is of another version of hone (this one wants version {} of the "
                             "device interface); build both together (./dev build), or use "
                             "--device cpu",
                             file.string(), kDeviceApiVersion));
  }
  return api;
}

double Gibibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

std::string FullText(const DeviceInfo& info, int64_t asked) {
  return fmt::format(
      "the memory of {} is full: {:.1f} of {:.1f} GiB are taken, and {:.2f} GiB more were asked "
      "for; compute less at a time (stage.groups, stage.batch, rollout.live), set "
      "model.recompute_activations=true or model.moments=8bit, or end what else uses the GPU "
      "(nvidia-smi). A run goes on from its last checkpoint when the same command is given again",
      info.name, Gibibytes(info.memory - info.free_memory), Gibibytes(info.memory),
      Gibibytes(asked));
}

// What kAuto means here.
Result<DeviceKind> AskedKind() {
  const std::string_view asked = Variable("HONE_DEVICE");
  if (asked.empty()) return DeviceKind::kAuto;
  Result<DeviceKind> kind = ParseDeviceKind(asked);
  if (!kind.ok()) return kind.error().In("HONE_DEVICE");
  return kind;
}

// Which GPU, where there are several: the one that the user names, or else each process of a
// launcher (mpirun, srun) its own, by its number among those of this machine, counted round.
Result<int32_t> AskedIndex() {
  for (const char* name :
       {"HONE_GPU", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    const std::string_view value = Variable(name);
    if (value.empty()) continue;
    int32_t index = -1;
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), index);
    if (failed == std::errc() && end == value.data() + value.size() && index >= 0) return index;
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{}={} is no number of a GPU; give 0, 1, ... as nvidia-smi lists them",
                             name, value));
  }
  return 0;
}

}  // namespace

std::string_view DeviceKindName(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kAuto: return "auto";
    case DeviceKind::kCpu: return "cpu";
    case DeviceKind::kCuda: return "cuda";
    case DeviceKind::kReference: return "reference";
  }
  return "unknown";
}

Result<DeviceKind> ParseDeviceKind(std::string_view text) {
  for (const DeviceKind kind : kDeviceKinds) {
    if (DeviceKindName(kind) == text) return kind;
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("there is no device \"{}\"; say auto, cpu or cuda", text));
}

Result<const DeviceApi*> OpenDeviceApi(std::span<const std::filesystem::path> places) {
  for (const std::filesystem::path& place : places) {
    std::error_code ignored;
    // With a slash in it, the linker looks nowhere else.
    if (std::filesystem::exists(place, ignored)) return ApiOf(std::filesystem::absolute(place));
  }
  return NoLibrary();
}

Result<const DeviceApi*> CudaDeviceApi() {
  static const Result<const DeviceApi*> api = OpenDeviceApi(LibraryPlaces());
  return api;
}

Result<std::shared_ptr<Device>> Device::Open(DeviceKind kind) {
  if (kind == DeviceKind::kAuto) {
    HONE_ASSIGN_OR_RETURN(kind, AskedKind());
  }
  switch (kind) {
    case DeviceKind::kCpu: return std::shared_ptr<Device>();
    case DeviceKind::kReference: return Open(ReferenceDevice());
    case DeviceKind::kCuda: {
      HONE_ASSIGN_OR_RETURN(const DeviceApi* api, CudaDeviceApi());
      HONE_ASSIGN_OR_RETURN(const int32_t index, AskedIndex());
      return Open(api, index);
    }
    case DeviceKind::kAuto: break;
  }
  const Result<const DeviceApi*> api = CudaDeviceApi();
  if (!api.ok()) return std::shared_ptr<Device>();
  HONE_ASSIGN_OR_RETURN(const int32_t index, AskedIndex());
  Result<std::shared_ptr<Device>> device = Open(*api, index);
  return device.ok() ? std::move(*device) : nullptr;
}

Result<std::shared_ptr<Device>> Device::Open(const DeviceApi* api, int32_t index) {
  std::array<char, 1024> why{};
  DeviceContext* context = api->open(index, why.data(), static_cast<int64_t>(why.size()));
  if (context == nullptr) {
    why.back() = '\0';
    return Error(ErrorCode::kUnavailable, why.data());
  }
  return std::shared_ptr<Device>(new Device(api, context));
}

Device::~Device() { api_->close(context_); }

DeviceInfo Device::info() const {
  DeviceInfo info{};
  api_->info(context_, &info);
  return info;
}

void* Device::Allocate(int64_t bytes) const {
  void* memory = api_->allocate(context_, bytes);
  if (memory != nullptr) {
    taken_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, taken_bytes_);
    return memory;
  }
  if (*api_->error(context_) != '\0') ThrowLost();
  throw DeviceError(DeviceError::Kind::kFull, FullText(info(), bytes));
}

void* Device::AllocateHost(int64_t bytes) const {
  void* memory = api_->allocate_host(context_, bytes);
  if (memory != nullptr) return memory;
  if (*api_->error(context_) != '\0') ThrowLost();
  throw DeviceError(DeviceError::Kind::kFull,
                    fmt::format("this machine has no {} bytes of memory left that {} could write "
                                "to; end other programs",
                                bytes, name()));
}

void Device::Release(void* memory, int64_t bytes) const {
  api_->release(context_, memory);
  taken_bytes_ -= bytes;
}

void Device::Synchronize() const {
  if (!api_->synchronize(context_)) ThrowLost();
}

void Device::Download(const void* from, int64_t bytes, void* to) const {
  if (!api_->download(context_, from, bytes, to)) ThrowLost();
}

void Device::DownloadRows(const DeviceRows& rows, void* to) const {
  if (!api_->download_rows(context_, rows, to)) ThrowLost();
}

std::string Device::Description() const {
  const DeviceInfo device = info();
  return fmt::format("{} {}, capability {}.{}, CUDA {}.{}, cuBLASLt {}", api_->name, device.name,
                     device.capability / 10, device.capability % 10, device.runtime / 1000,
                     device.runtime % 1000 / 10, device.product_library);
}

void Device::ThrowLost() const {
  throw DeviceError(
      DeviceError::Kind::kLost,
      fmt::format("{} has failed ({}); look at hone doctor and at the system's log (dmesg). A run "
                  "goes on from its last checkpoint when the same command is given again, also "
                  "with --device cpu",
                  name(), api_->error(context_)));
}

}  // namespace hone
