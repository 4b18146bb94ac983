#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace hone {

// One line at the bottom of a terminal that says how far something is. Where nobody looks (a file,
// a pipe) it writes nothing at all.
class ProgressBar {
 public:
  explicit ProgressBar(std::FILE* stream);
  ~ProgressBar() { Erase(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Draws it anew; a drawing that would look the same is left out.
  // `rest` stands behind it: "about 3 min left".
  void Show(std::string_view name, int64_t done, int64_t all, std::string_view rest = "");
  // Before anything else is written to the stream.
  void Erase();

 private:
  std::FILE* stream_;
  bool seen_;          // somebody looks
  std::string drawn_;  // empty: nothing
};

// "name ██████····· 3/7", with `cells` cells.
std::string BarText(std::string_view name, int64_t done, int64_t all, int cells);

}  // namespace hone
