#include "app/input.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/file.h"

namespace hone {

Result<std::string> ReadInput(const std::string& name) {
  if (name == "-") return ReadStandardInput();
  std::error_code ignored;
  if (!std::filesystem::is_fifo(name, ignored)) return ReadFile(name);
  std::ifstream pipe(name, std::ios::binary);
  if (!pipe.is_open()) return ErrnoError("cannot read " + name);
  std::string text(std::istreambuf_iterator<char>(pipe), {});
  if (pipe.bad()) return Error(ErrorCode::kIo, "cannot read " + name);
  return text;
}

}  // namespace hone
