#include "app/passes/pipe.h"

#include <istream>
#include <ostream>
#include <utility>

#include "base/bytes/byte_order_mark.h"

namespace hone {

Json ErrorJson(const Error& error) {
  return Json::Of(
      {{"error", Json::Of({{"code", ErrorCodeName(error.code())}, {"message", error.message()}})}});
}

Result<int64_t> RunPipe(const Pass& pass, const PassOptions& options, std::istream& in,
                        std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const PassFunction function, pass.open(options));
  int64_t failed = 0;
  bool first = true;
  for (std::string line; std::getline(in, line);) {
    const std::string_view said = std::exchange(first, false) ? WithoutByteOrderMark(line) : line;
    Result<Json> result = [&]() -> Result<Json> {
      HONE_ASSIGN_OR_RETURN(const Json value, ParseJson(said));
      return function(value);
    }();
    if (!result.ok()) ++failed;
    out << DumpJson(result.ok() ? *result : ErrorJson(result.error())) << '\n' << std::flush;
    if (!out) return Error(ErrorCode::kIo, "the output cannot be written (is the disk full?)");
  }
  if (in.bad()) return Error(ErrorCode::kIo, "the input cannot be read (is it a directory?)");
  return failed;
}

}  // namespace hone
