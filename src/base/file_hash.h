#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"

namespace hone {

// SHA-256 of a regular file's bytes as 64 lower-case hexadecimal digits. The file may be larger
// than memory, and must not be cut short meanwhile. The error names it and why.
Result<std::string> HashFile(const std::filesystem::path& path);

// The files of a folder and of those in it, by their names relative to it, in order. Without those
// whose names begin with a dot, what is no regular file, and what lies behind links to folders.
Result<std::map<std::string, std::filesystem::path>> FilesIn(const std::filesystem::path& folder);

// The same of a folder: of the names and bytes of the files in it and in its folders, whatever the
// order in which the disk has them. Names that begin with a dot are passed over.
Result<std::string> HashFolder(const std::filesystem::path& folder);

}  // namespace hone
