#include "cluster/mpi.h"

#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <list>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace hone {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kThreadFunneled = 1;  // MPI_THREAD_FUNNELED, of both kinds
constexpr int kTag = 0x40;
constexpr size_t kPiece = size_t{1} << 26;  // of a message: counts are ints

// MPI has no binary interface of its own. Open MPI's handles are addresses of objects that its
// library exports; those of MPICH and its relatives (Intel MPI, MVAPICH, Cray) are numbers of the
// ABI that they agreed on in 2013.
struct OpenMpiHandles {
  using Handle = void*;
  Handle world, byte, errors_return;
  static Result<OpenMpiHandles> Of(void* library) {
    OpenMpiHandles handles{dlsym(library, "ompi_mpi_comm_world"), dlsym(library, "ompi_mpi_byte"),
                           dlsym(library, "ompi_mpi_errors_return")};
    if (handles.world == nullptr || handles.byte == nullptr || handles.errors_return == nullptr) {
      return Error(ErrorCode::kUnsupported, "it lacks what every Open MPI exports");
    }
    return handles;
  }
};
struct MpichHandles {
  using Handle = int;
  Handle world = 0x44000000, byte = 0x4c00010d, errors_return = 0x54000001;
  static Result<MpichHandles> Of(void*) { return MpichHandles(); }
};

// Some of MPI's functions.
template <typename Handle>
struct Functions {
  int (*init)(int*, char***, int, int*) = nullptr;
  int (*rank)(Handle, int*) = nullptr;
  int (*size)(Handle, int*) = nullptr;
  int (*processor_name)(char*, int*) = nullptr;
  int (*set_errhandler)(Handle, Handle) = nullptr;
  int (*error_string)(int, char*, int*) = nullptr;
  int (*send)(const void*, int, Handle, int, int, Handle, Handle*) = nullptr;
  int (*receive)(void*, int, Handle, int, int, Handle, Handle*) = nullptr;
  int (*test)(Handle*, int*, void*) = nullptr;
  int (*finalize)() = nullptr;

  Result<void> Load(void* library) {
    Result<void> loaded;
    const auto load = [&](const char* name, auto* function) {
      *function =
          reinterpret_cast<std::remove_reference_t<decltype(*function)>>(dlsym(library, name));
      if (*function == nullptr) {
        loaded = Error(ErrorCode::kUnsupported, fmt::format("it has no {}", name));
      }
    };
    load("MPI_Init_thread", &init);
    load("MPI_Comm_rank", &rank);
    load("MPI_Comm_size", &size);
    load("MPI_Get_processor_name", &processor_name);
    load("MPI_Comm_set_errhandler", &set_errhandler);
    load("MPI_Error_string", &error_string);
    load("MPI_Isend", &send);
    load("MPI_Irecv", &receive);
    load("MPI_Test", &test);
    load("MPI_Finalize", &finalize);
    return loaded;
  }
};

template <typename Handles>
class MpiTransport final : public Transport {
 public:
  using Handle = typename Handles::Handle;

  static Result<std::unique_ptr<Transport>> Begin(void* library, const MpiOptions& options) {
    HONE_ASSIGN_OR_RETURN(const Handles handles, Handles::Of(library));
    std::unique_ptr<MpiTransport> mpi(new MpiTransport(handles, options));
    HONE_RETURN_IF_ERROR(mpi->mpi_.Load(library));
    int provided = 0;
    if (mpi->mpi_.init(nullptr, nullptr, kThreadFunneled, &provided) != 0) {
      return Error(ErrorCode::kUnavailable, "MPI_Init_thread failed");
    }
    mpi->mpi_.set_errhandler(handles.world, handles.errors_return);
    mpi->mpi_.rank(handles.world, &mpi->rank_);
    mpi->mpi_.size(handles.world, &mpi->size_);
    std::array<char, 1024> name{};
    int length = 0;
    mpi->mpi_.processor_name(name.data(), &length);
    mpi->host_ = name.data();
    return std::unique_ptr<Transport>(std::move(mpi));
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string host() const override { return host_; }

  void Send(int to, std::string bytes) override {
    Outgoing& letter = going_.emplace_back();
    letter.size = bytes.size();
    letter.bytes = std::move(bytes);
    const auto send = [&](const void* from, size_t size) {
      Check(mpi_.send(from, static_cast<int>(size), handles_.byte, to, kTag, handles_.world,
                      &letter.requests.emplace_back()),
            to);
    };
    send(&letter.size, sizeof(letter.size));
    for (size_t at = 0; at < letter.size; at += kPiece) {
      send(letter.bytes.data() + at, std::min(kPiece, letter.size - at));
    }
    Progress();
  }

  std::string Receive(int from, bool in_time) override {
    uint64_t size = 0;
    ReceivePiece(&size, sizeof(size), from, in_time ? Awaited::kInTime : Awaited::kAtAnyTime);
    std::string bytes(size, '\0');
    for (size_t at = 0; at < size; at += kPiece) {
      ReceivePiece(bytes.data() + at, std::min(kPiece, size - at), from, Awaited::kComing);
    }
    return bytes;
  }

  void NameProcesses(std::vector<std::string> names) override { names_ = std::move(names); }

  // MPI moves large messages only while it is called.
  void Flush() override {
    WaitUntil([&] { return Progress(), going_.empty(); }, -1, Awaited::kInTime);
  }

  void Close() override {
    Flush();
    mpi_.finalize();
  }

 private:
  // MPI reads what is sent until it is done with it.
  struct Outgoing {
    uint64_t size = 0;
    std::string bytes;
    std::list<Handle> requests;
  };

  MpiTransport(const Handles& handles, const MpiOptions& options)
      : handles_(handles), options_(options) {}

  void Check(int code, int other) const {
    if (code == 0) return;
    std::array<char, 1024> text{};
    int length = 0;
    mpi_.error_string(code, text.data(), &length);
    throw ClusterError(
        fmt::format("{} cannot reach {}: {}; the same command goes on from the last "
                    "checkpoint, with any number of processes",
                    NameOf(rank_), NameOf(other), text.data()));
  }

  // Before all have met, numbers are all that is known; -1: any of them.
  std::string NameOf(int rank) const {
    if (rank < 0) return "another process";
    const auto i = static_cast<size_t>(rank);
    return i < names_.size() ? names_[i] : fmt::format("process {}", rank);
  }

  bool IsDone(Handle* request, int other) {
    int done = 0;
    std::array<char, 64> status;  // of either kind, and more; nobody reads it
    Check(mpi_.test(request, &done, status.data()), other);
    return done != 0;
  }

  void Progress() {
    for (auto letter = going_.begin(); letter != going_.end();) {
      letter->requests.remove_if([&](Handle& request) { return IsDone(&request, -1); });
      letter = letter->requests.empty() ? going_.erase(letter) : std::next(letter);
    }
  }

  // kComing: its sender has begun to send what this is a piece of.
  enum class Awaited { kAtAnyTime, kInTime, kComing };

  void ReceivePiece(void* to, size_t size, int from, Awaited awaited) {
    Handle request{};
    Check(mpi_.receive(to, static_cast<int>(size), handles_.byte, from, kTag, handles_.world,
                       &request),
          from);
    WaitUntil([&] { return Progress(), IsDone(&request, from); }, from, awaited);
  }

  // MPI's own waiting takes a whole core, which others may compute on. But a large message moves on
  // only while both sides look at it, a few pages at a time: while one is on its way nobody sleeps
  // for long.
  template <typename Condition>
  void WaitUntil(const Condition& condition, int other, Awaited awaited) {
    const SteadyClock::time_point begin = SteadyClock::now();
    constexpr int64_t kEager = 200, kFlowing = 200'000;
    for (int64_t tries = 0; !condition(); ++tries) {
      const bool flows = awaited == Awaited::kComing || !going_.empty();
      if (tries < (flows ? kFlowing : kEager)) {
        std::this_thread::yield();
        continue;
      }
      const bool soon = flows || tries < 20 * kEager;
      std::this_thread::sleep_for(std::chrono::microseconds(soon ? 50 : 500));
      const std::chrono::duration<double> waited = SteadyClock::now() - begin;
      if (waited.count() > kSoon) NoteEnding(other);
      const bool patient = options_.patience_seconds <= 0 || awaited == Awaited::kAtAnyTime;
      if (patient || waited.count() < options_.patience_seconds) continue;
      throw ClusterError(fmt::format(
          "{} has waited {:.0f} s for {}, which is gone, cut off or far too slow; the same command "
          "goes on from the last checkpoint, with any number of processes (run.patience says how "
          "long they wait for each other)",
          NameOf(rank_), waited.count(), NameOf(other)));
    }
  }

  // A launcher gives processes a moment before it kills them.
  void NoteEnding(int other) {
    if (noted_ending_ || rank_ != 0 || !options_.ending || !options_.ending()) return;
    noted_ending_ = true;
    options_.note(fmt::format(
        "this run is to end, and {} waits for {} to finish its part; if that one died, the same "
        "command goes on from the last checkpoint, with any number of processes",
        NameOf(rank_), NameOf(other)));
  }

  static constexpr double kSoon = 0.2;  // seconds

  Handles handles_;
  MpiOptions options_;
  bool noted_ending_ = false;
  Functions<Handle> mpi_;
  int rank_ = 0, size_ = 1;
  std::string host_;
  std::vector<std::string> names_;
  std::list<Outgoing> going_;
};

bool IsSet(const char* name) { return std::getenv(name) != nullptr; }

// The library of the launcher that started this process comes first: another one would find nobody.
std::vector<std::string> Libraries() {
  if (const char* named = std::getenv("HONE_MPI_LIBRARY")) return {named};
  const std::vector<std::string> open_mpi = {"libmpi.so.40", "libmpi.so"};
  std::vector<std::string> mpich = {"libmpich.so.12", "libmpi.so.12"};
  const bool hydra = IsSet("PMI_RANK") && !IsSet("OMPI_COMM_WORLD_SIZE");
  std::vector<std::string> all = hydra ? mpich : open_mpi;
  const std::vector<std::string>& rest = hydra ? open_mpi : mpich;
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

struct Library {
  void* opened = nullptr;
  std::string name;
};

Result<Library> OpenLibrary() {
  std::string problem;
  for (const std::string& name : Libraries()) {
    // Its plugins look for its symbols among those of the program.
    if (void* opened = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL)) return Library{opened, name};
    if (problem.empty()) problem = dlerror();
  }
  return Error(ErrorCode::kUnavailable,
               fmt::format("several processes want MPI, and its library cannot be opened ({}); "
                           "install it (apt-get install openmpi-bin), or name it "
                           "(HONE_MPI_LIBRARY=/path/libmpi.so)",
                           problem));
}

}  // namespace

bool StartedByMpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* size = std::getenv(name)) return std::atoi(size) > 1;
  }
  if (!IsSet("PMIX_RANK") && !IsSet("PMI_RANK")) return false;
  const char* tasks = std::getenv("SLURM_NTASKS");  // of srun, which says no size otherwise
  return tasks == nullptr || std::atoi(tasks) > 1;
}

Result<std::unique_ptr<Transport>> OpenMpi(const MpiOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Library library, OpenLibrary());
  const bool open_mpi = dlsym(library.opened, "ompi_mpi_comm_world") != nullptr;
  Result<std::unique_ptr<Transport>> begun =
      open_mpi ? MpiTransport<OpenMpiHandles>::Begin(library.opened, options)
               : MpiTransport<MpichHandles>::Begin(library.opened, options);
  if (!begun.ok()) return begun.error().In(library.name);
  return begun;
}

Result<std::string> MpiVersion() {
  HONE_ASSIGN_OR_RETURN(const Library library, OpenLibrary());
  const auto version =
      reinterpret_cast<int (*)(char*, int*)>(dlsym(library.opened, "MPI_Get_library_version"));
  std::array<char, 8192> text{};
  int length = 0;
  if (version == nullptr || version(text.data(), &length) != 0) return library.name;
  const std::string_view whole(text.data());
  return fmt::format("{}, {}", library.name, whole.substr(0, whole.find_first_of(",\n")));
}

}  // namespace hone
