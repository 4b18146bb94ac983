#include "engine/weights/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/descriptor.h"
#include "base/file.h"

namespace hone {

Result<std::shared_ptr<const MappedFile>> MappedFile::Open(const std::filesystem::path& path) {
  const std::string name = path.string();
  // A pipe without a writer would let opening wait for ever.
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.ok()) return ErrnoError("cannot open " + name);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return ErrnoError("cannot read " + name);
  if (!S_ISREG(status.st_mode)) {
    return Error(ErrorCode::kInvalidArgument, name + ": is not a regular file");
  }
  std::shared_ptr<MappedFile> file(new MappedFile);
  if (status.st_size > 0) {
    const auto size = static_cast<size_t>(status.st_size);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (data == MAP_FAILED) return ErrnoError("cannot map " + name);
    file->data_ = static_cast<const std::byte*>(data);
    file->size_ = size;
  }
  return std::shared_ptr<const MappedFile>(std::move(file));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace hone
