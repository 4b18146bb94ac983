#include "base/file_hash.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <map>

#include <fmt/format.h>

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

Result<std::map<std::string, std::filesystem::path>> FilesIn(const std::filesystem::path& folder) {
  std::map<std::string, std::filesystem::path> files;
  std::error_code failed;
  std::filesystem::recursive_directory_iterator entry(folder, failed), end;
  for (; !failed && entry != end; entry.increment(failed)) {
    const std::filesystem::path& path = entry->path();
    std::error_code ignored;
    if (path.filename().string().starts_with('.')) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file(ignored)) {
      files.emplace(path.lexically_relative(folder).generic_string(), path);
    }
  }
  if (failed) {
    return Error(ErrorCode::kIo,
                 fmt::format("cannot list {}: {}", folder.string(), failed.message()));
  }
  return files;
}

Result<std::string> HashFolder(const std::filesystem::path& folder) {
  HONE_ASSIGN_OR_RETURN(const auto files, FilesIn(folder));
  std::string all;
  for (const auto& [name, path] : files) {
    HONE_ASSIGN_OR_RETURN(const std::string hash, HashFile(path));
    all += fmt::format("{} {}\n", hash, name);
  }
  return Sha256Hex(all);
}

}  // namespace hone
