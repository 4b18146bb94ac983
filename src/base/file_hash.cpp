#include "base/file_hash.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/hash.h"

namespace hone {

Result<std::string> HashFile(const std::filesystem::path& path) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.ok()) return ErrnoError("cannot open " + path.string());
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return ErrnoError("cannot read " + path.string());
  if (!S_ISREG(status.st_mode)) {
    return Error(ErrorCode::kInvalidArgument, path.string() + " is not a regular file");
  }
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return Sha256Hex("");  // nothing cannot be mapped
  void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (bytes == MAP_FAILED) return ErrnoError("cannot read " + path.string());
  ::madvise(bytes, size, MADV_SEQUENTIAL);
  std::string hash = Sha256Hex({static_cast<const char*>(bytes), size});
  ::munmap(bytes, size);
  return hash;
}

}  // namespace hone
