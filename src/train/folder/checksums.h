#pragma once

#include <filesystem>

#include "base/result.h"

namespace hone {

// Whether files are still what was written: the SHA-256 of every file of a folder, in
// checksums.json beside them. A bit that flips on a disk would otherwise train other weights, and
// nobody would know.

// Writes down what the folder's files are now, those of its folders as well. What SQLite keeps
// beside a database while somebody has it open is not counted.
Result<void> WriteChecksums(const std::filesystem::path& folder);

// kCorrupt names the first file that is not what was written, or is gone, unless some may be: of a
// checkpoint that is only read somebody may have kept the model alone. Files that came later do no
// harm. A folder without checksums.json, from before there were any, is taken as it is.
enum class GoneFiles { kAreDamage, kAreFine };
Result<void> VerifyChecksums(const std::filesystem::path& folder,
                             GoneFiles gone = GoneFiles::kAreDamage);

}  // namespace hone
