#include "tools/sandbox/scratch_folder.h"

#include <algorithm>
#include <cerrno>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/sandbox/beneath.h"

namespace hone {
namespace {

constexpr size_t kMaxPathBytes = 1024;

Error Wrong(std::string_view path, std::string_view why) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("\"{}\": {}", path, why));
}

// What the operating system refused, in words for an agent, without the place of the folder.
Error Refused(std::string_view path) {
  switch (errno) {
    case ENOENT: return Error(ErrorCode::kNotFound, fmt::format("\"{}\": there is none", path));
    case EISDIR: return Wrong(path, "is a folder");
    case ENOTDIR: return Wrong(path, "a part of it is a file, not a folder");
    case ENOTEMPTY: return Wrong(path, "the folder is not empty; delete what is in it first");
    case EEXIST: return Wrong(path, "is there already");
    case ELOOP:
    case EXDEV: return Wrong(path, "leads outside");
    case ENAMETOOLONG: return Wrong(path, "a name is too long");
    case EINVAL: return Wrong(path, "is a part of where it would go");
    // Not the limits of the folder: the machine itself is full, which is nobody's doing here.
    case ENOSPC:
    case EDQUOT: return Error(ErrorCode::kIo, "no space left on the machine");
    default: return ErrnoError(fmt::format("\"{}\"", path));
  }
}

Result<void> WriteAll(int fd, std::string_view content, std::string_view path) {
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Refused(path);
    content.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

// All entries of the open folder `fd`, which is closed, under names that begin with `prefix`.
Result<void> Walk(int fd, const std::string& prefix, std::vector<ScratchFolder::Entry>* entries) {
  DIR* directory = ::fdopendir(fd);
  if (directory == nullptr) {
    ::close(fd);
    return Refused(prefix);
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> closer(directory, &::closedir);
  while (const dirent* found = ::readdir(directory)) {
    const std::string name = found->d_name;
    if (name == "." || name == "..") continue;
    struct stat status {};
    if (::fstatat(::dirfd(directory), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const bool folder = S_ISDIR(status.st_mode);
    if (!folder && !S_ISREG(status.st_mode)) continue;  // a link or a device is nothing here
    entries->push_back({prefix + name, folder, folder ? 0 : status.st_size});
    if (!folder) continue;
    const int inner =
        ::openat(::dirfd(directory), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0) HONE_RETURN_IF_ERROR(Walk(inner, prefix + name + "/", entries));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<ScratchFolder>> ScratchFolder::New(const FolderLimits& limits) {
  std::unique_ptr<ScratchFolder> folder(new ScratchFolder(limits));
  folder->root_ =
      ::open(folder->folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (folder->root_ < 0) return ErrnoError("cannot open a temporary folder");
  return folder;
}

ScratchFolder::~ScratchFolder() {
  if (root_ >= 0) ::close(root_);
}

Result<std::vector<std::string>> ScratchFolder::PartsOf(std::string_view path) const {
  if (path.size() > kMaxPathBytes) return Wrong(path.substr(0, 60), "the path is too long");
  if (path.find('\0') != std::string_view::npos) return Wrong("...", "has a NUL character");
  if (path.starts_with('/')) return Wrong(path, "wants a relative path, like \"notes/a.txt\"");
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part == "..") return Wrong(path, "\"..\" leads outside");
    if (!part.empty() && part != ".") parts.emplace_back(part);
    begin = end + 1;
  }
  if (static_cast<int64_t>(parts.size()) > limits_.depth) {
    return Wrong(path, fmt::format("at most {} folders deep", limits_.depth));
  }
  return parts;
}

// The folder that the last part lies in.
Result<int> ScratchFolder::OpenParent(const std::vector<std::string>& parts, bool create) const {
  std::string so_far;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    so_far += (i > 0 ? "/" : "") + parts[i];
    if (!create) continue;
    const std::string parent = so_far.substr(0, so_far.size() - parts[i].size());
    const BeneathDescriptor inside(OpenBeneath(root_, parent, O_RDONLY | O_DIRECTORY));
    if (!inside.ok()) return Refused(so_far);
    if (::mkdirat(inside.get(), parts[i].c_str(), 0755) != 0 && errno != EEXIST) {
      return Refused(so_far);
    }
  }
  const int fd = OpenBeneath(root_, so_far, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return Refused(so_far);
  return fd;
}

// Whether a file of `bytes` may stand at `path`.
Result<void> ScratchFolder::CheckRoom(std::string_view path, const std::vector<std::string>& parts,
                                      int64_t bytes) const {
  if (bytes > limits_.file_bytes) {
    return Error(ErrorCode::kFull, fmt::format("\"{}\": a file may have {} bytes, not {}", path,
                                               limits_.file_bytes, bytes));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<Entry> entries, List(""));
  int64_t total = bytes, count = static_cast<int64_t>(entries.size());
  std::string so_far;
  std::vector<std::string> needed;
  for (const std::string& part : parts) {
    so_far += (so_far.empty() ? "" : "/") + part;
    needed.push_back(so_far);
  }
  count += static_cast<int64_t>(needed.size());
  for (const Entry& entry : entries) {
    count -= std::count(needed.begin(), needed.end(), entry.path);
    if (entry.path != so_far) total += entry.bytes;
  }
  if (total > limits_.bytes) {
    return Error(
        ErrorCode::kFull,
        fmt::format("\"{}\": no room: all files together may have {} bytes", path, limits_.bytes));
  }
  if (count > limits_.files) {
    return Error(ErrorCode::kFull,
                 fmt::format("\"{}\": no room: at most {} files and folders", path, limits_.files));
  }
  return {};
}

Result<std::vector<ScratchFolder::Entry>> ScratchFolder::List(std::string_view path) const {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> parts, PartsOf(path));
  const std::string clean = fmt::format("{}", fmt::join(parts, "/"));
  const int fd = OpenBeneath(root_, clean, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return Refused(path);
  std::vector<Entry> entries;
  HONE_RETURN_IF_ERROR(Walk(fd, clean.empty() ? "" : clean + "/", &entries));
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.path < b.path; });
  return entries;
}

Result<std::string> ScratchFolder::Read(std::string_view path) const {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> parts, PartsOf(path));
  // Without waiting: something that is no file must not hold the call up.
  const BeneathDescriptor fd(
      OpenBeneath(root_, fmt::format("{}", fmt::join(parts, "/")), O_RDONLY | O_NONBLOCK));
  struct stat status {};
  if (!fd.ok() || ::fstat(fd.get(), &status) != 0) return Refused(path);
  if (S_ISDIR(status.st_mode)) return Wrong(path, "is a folder");
  if (!S_ISREG(status.st_mode)) return Wrong(path, "is not a file");
  std::string content;
  char buffer[1 << 16];
  while (true) {
    const ssize_t count = ::read(fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Refused(path);
    if (count == 0) return content;
    content.append(buffer, static_cast<size_t>(count));
  }
}

Result<void> ScratchFolder::Write(std::string_view path, std::string_view content) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> parts, PartsOf(path));
  if (parts.empty() || path.ends_with('/')) return Wrong(path, "wants the name of a file");
  HONE_RETURN_IF_ERROR(CheckRoom(path, parts, static_cast<int64_t>(content.size())));
  return Store(parts, content);
}

Result<void> ScratchFolder::Store(const std::vector<std::string>& parts, std::string_view content) {
  const std::string path = fmt::format("{}", fmt::join(parts, "/"));
  HONE_ASSIGN_OR_RETURN(const int parent, OpenParent(parts, true));
  const BeneathDescriptor closer(parent);
  const BeneathDescriptor fd(
      OpenBeneath(parent, parts.back(), O_WRONLY | O_CREAT | O_NONBLOCK, 0644));
  struct stat status {};
  if (!fd.ok() || ::fstat(fd.get(), &status) != 0) return Refused(path);
  if (!S_ISREG(status.st_mode)) return Wrong(path, "is not a file");
  if (::ftruncate(fd.get(), 0) != 0) return Refused(path);
  return WriteAll(fd.get(), content, path);
}

Result<void> ScratchFolder::Append(std::string_view path, std::string_view content) {
  Result<std::string> before = Read(path);
  if (!before.ok() && before.error().code() != ErrorCode::kNotFound) return before.error();
  return Write(path, before.ok() ? *before + std::string(content) : content);
}

Result<void> ScratchFolder::Remove(std::string_view path) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> parts, PartsOf(path));
  if (parts.empty()) return Wrong(path, "wants the name of a file");
  Result<int> parent = OpenParent(parts, false);
  if (!parent.ok()) return parent.error();
  const BeneathDescriptor closer(*parent);
  if (::unlinkat(*parent, parts.back().c_str(), 0) == 0) return {};
  if (errno != EISDIR) return Refused(path);
  if (::unlinkat(*parent, parts.back().c_str(), AT_REMOVEDIR) != 0) return Refused(path);
  return {};
}

Result<void> ScratchFolder::Move(std::string_view from, std::string_view to) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> old_parts, PartsOf(from));
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> new_parts, PartsOf(to));
  if (old_parts.empty() || new_parts.empty()) return Wrong(from, "wants the name of a file");
  HONE_ASSIGN_OR_RETURN(const int old_parent, OpenParent(old_parts, false));
  const BeneathDescriptor old_closer(old_parent);
  struct stat status {};
  if (::fstatat(old_parent, old_parts.back().c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return Refused(from);
  }
  // A folder could be carried deeper than the limit by what is in it.
  if (!S_ISREG(status.st_mode)) return Wrong(from, "only files can be moved");
  HONE_RETURN_IF_ERROR(CheckRoom(to, new_parts, 0));
  HONE_ASSIGN_OR_RETURN(const int new_parent, OpenParent(new_parts, true));
  const BeneathDescriptor new_closer(new_parent);
  if (::renameat2(old_parent, old_parts.back().c_str(), new_parent, new_parts.back().c_str(),
                  RENAME_NOREPLACE) != 0) {
    return Refused(errno == ENOENT ? from : to);
  }
  return {};
}

Result<void> ScratchFolder::CopyFrom(const std::filesystem::path& outside) {
  std::error_code failed;
  std::vector<std::filesystem::path> found;
  for (auto entry = std::filesystem::recursive_directory_iterator(outside, failed);
       !failed && entry != std::filesystem::end(entry); entry.increment(failed)) {
    found.push_back(entry->path());
  }
  if (failed) return Error(ErrorCode::kIo, outside.string() + ": " + failed.message());
  std::sort(found.begin(), found.end());
  for (const std::filesystem::path& file : found) {
    const auto status = std::filesystem::symlink_status(file, failed);
    if (std::filesystem::is_directory(status)) continue;
    if (!std::filesystem::is_regular_file(status)) {
      return Error(ErrorCode::kInvalidArgument,
                   file.string() + ": is a link or a device; a workspace begins with plain files");
    }
    HONE_ASSIGN_OR_RETURN(const std::string content, ReadFile(file));
    HONE_RETURN_IF_ERROR(Write(std::filesystem::relative(file, outside).string(), content));
  }
  return {};
}

Result<std::unique_ptr<ScratchFolder>> ScratchFolder::Clone() const {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<ScratchFolder> copy, New(limits_));
  HONE_ASSIGN_OR_RETURN(const std::vector<Entry> entries, List(""));
  for (const Entry& entry : entries) {  // a folder sorts before what is in it
    if (entry.folder) {
      if (::mkdirat(copy->root_, entry.path.c_str(), 0755) != 0) return Refused(entry.path);
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const std::string content, Read(entry.path));
    HONE_ASSIGN_OR_RETURN(const std::vector<std::string> parts, PartsOf(entry.path));
    HONE_RETURN_IF_ERROR(copy->Store(parts, content));
  }
  return copy;
}

}  // namespace hone
