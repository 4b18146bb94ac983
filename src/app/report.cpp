#include "app/report.h"

#include <cstdio>
#include <string>

#include "app/passes/pipe.h"
#include "app/terminal.h"
#include "base/utf8.h"

namespace hone {

void Report(CommandContext* context, const Error& error) {
  context->exit_status = 1;
  const std::string text =
      context->json ? DumpJson(ErrorJson(Error(error.code(), Utf8Lossy(error.message()))))
                    : Terminal::Of(stderr).Red("hone:") + " " + Printable(error.message());
  std::fprintf(stderr, "%s\n", text.c_str());
}

void Print(CommandContext* context, std::string_view text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written)
    Report(context, Error(ErrorCode::kIo, "the output cannot be written (is the disk full?)"));
}

void Finish(CommandContext* context, const Result<std::string>& output) {
  if (output.ok()) {
    Print(context, *output);
  } else {
    Report(context, output.error());
  }
}

void WriteEvent(const Json& event, std::FILE* stream) {
  std::fputs((DumpJson(event) + "\n").c_str(), stream);
  std::fflush(stream);
}

}  // namespace hone
