#include "base/fetch/tar.h"

#include <gtest/gtest.h>

#include <map>

#include <fmt/format.h>

#include "base/fetch/gzip.h"
#include "base/file.h"

namespace hone {
namespace {

// Written by Python's tarfile and gzip (tests/golden/archives/make.py).
const std::filesystem::path kArchives = HONE_SOURCE_DIR "/tests/golden/archives";

// Everything of an archive, by path.
class Contents {
 public:
  TarVisitor Visitor() {
    return {[this](const std::string& path, int64_t size) -> Result<bool> {
              last_ = &files[path];
              sizes[path] = size;
              return true;
            },
            [this](std::string_view bytes) -> Result<void> {
              last_->append(bytes);
              return {};
            }};
  }
  std::map<std::string, std::string> files;
  std::map<std::string, int64_t> sizes;

 private:
  std::string* last_ = nullptr;
};

std::map<std::string, std::string> Expected(bool long_name) {
  std::string big;
  for (int i = 0; i < 900 * 256; ++i) big += static_cast<char>(i);
  std::map<std::string, std::string> files = {{"package/package.json", "{\"name\": \"x\"}\n"},
                                              {"package/empty", ""},
                                              {"package/block", std::string(512, 'b')},
                                              {"package/big", big}};
  std::string path = "package/";
  for (int i = 0; i < 6; ++i) path += "a-folder-with-a-long-name/";
  if (long_name) files[path + "file.txt"] = "long\n";
  return files;
}

// The uncompressed bytes.
std::string Inflated(const std::string& packed) {
  std::string out;
  GzipReader reader([&](std::string_view bytes) -> Result<void> {
    out.append(bytes);
    return {};
  });
  EXPECT_TRUE(reader.Feed(packed).ok());
  EXPECT_TRUE(reader.Finish().ok());
  return out;
}

std::string ErrorOf(const std::filesystem::path& path, TarLimits limits = {}) {
  Contents contents;
  const auto read = ReadTarGz(path, contents.Visitor(), limits);
  return read.ok() ? "" : read.error().message();
}

TEST(Tar, ArchivesOfPythonAreReadInAllThreeFormats) {
  for (const std::string form : {"ustar", "gnu", "pax"}) {
    Contents contents;
    const auto read = ReadTarGz(kArchives / (form + ".tgz"), contents.Visitor());
    ASSERT_TRUE(read.ok()) << form << read.error().message();
    EXPECT_EQ(contents.files, Expected(form != "ustar")) << form;
    for (const auto& [path, bytes] : contents.files) {
      EXPECT_EQ(contents.sizes[path], std::ssize(bytes)) << path;
    }
  }
}

TEST(Tar, PiecesDoNotMatter) {
  const std::string tar = Inflated(*ReadFile(kArchives / "pax.tgz"));
  for (const size_t piece : {1u, 511u, 512u, 513u}) {
    Contents contents;
    TarReader reader(contents.Visitor(), {});
    for (size_t at = 0; at < tar.size(); at += piece) {
      ASSERT_TRUE(reader.Feed(std::string_view(tar).substr(at, piece)).ok());
    }
    EXPECT_TRUE(reader.Finish().ok());
    EXPECT_EQ(contents.files, Expected(true)) << piece;
  }
}

TEST(Tar, PathsOutsideAndLinksAreRefused) {
  for (const char* name : {"parent", "absolute", "long-parent"}) {
    EXPECT_NE(ErrorOf(kArchives / fmt::format("bad-{}.tgz", name)).find("leads outside"),
              std::string::npos)
        << name;
  }
  for (const char* name : {"symlink", "hardlink", "device", "pipe"}) {
    EXPECT_NE(ErrorOf(kArchives / fmt::format("bad-{}.tgz", name)).find("a link or a device"),
              std::string::npos)
        << name;
  }
}

TEST(Tar, LimitsAreKept) {
  EXPECT_NE(ErrorOf(kArchives / "pax.tgz", {.entries = 3}).find("more than 3 entries"),
            std::string::npos);
  EXPECT_NE(ErrorOf(kArchives / "pax.tgz", {.bytes = 1000}).find("more than 1000 bytes"),
            std::string::npos);
}

TEST(Tar, EveryCutIsNoticed) {
  const std::string whole = *ReadFile(kArchives / "ustar.tgz");
  const TemporaryDirectory directory;
  const auto path = directory.path() / "x.tgz";
  for (size_t size = 0; size < whole.size(); size += 13) {
    ASSERT_TRUE(WriteFileAtomic(path, whole.substr(0, size)).ok());
    EXPECT_NE(ErrorOf(path).find(path.string()), std::string::npos) << size;
  }
}

TEST(Tar, ADamagedHeaderIsNoticed) {
  std::string tar = Inflated(*ReadFile(kArchives / "ustar.tgz"));
  tar[3] ^= 1;
  Contents contents;
  TarReader reader(contents.Visitor(), {});
  const auto fed = reader.Feed(tar);
  ASSERT_FALSE(fed.ok());
  EXPECT_NE(fed.error().message().find("checksum"), std::string::npos);
}

TEST(Gzip, MembersFollowEachOtherAndDamageIsNoticed) {
  const std::string one = *ReadFile(kArchives / "ustar.tgz");
  const std::string text = Inflated(one);
  EXPECT_EQ(Inflated(one + one), text + text);
  std::string damaged = one;
  damaged[one.size() - 6] ^= 1;  // of the checksum
  GzipReader reader([](std::string_view) { return Result<void>(); });
  EXPECT_FALSE(reader.Feed(damaged).ok());
  GzipReader other([](std::string_view) { return Result<void>(); });
  EXPECT_FALSE(other.Feed("this is no gzip").ok());
}

}  // namespace
}  // namespace hone
