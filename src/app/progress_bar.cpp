#include "app/progress_bar.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

namespace hone {

std::string BarText(std::string_view name, int64_t done, int64_t all, int cells) {
  const int64_t full =
      std::clamp<int64_t>(cells * done / std::max<int64_t>(all, 1), 0, int64_t{cells});
  std::string bar;
  for (int64_t i = 0; i < cells; ++i) bar += i < full ? "█" : "·";
  return fmt::format("{} {} {}/{}", name, bar, done, all);
}

ProgressBar::ProgressBar(std::FILE* stream)
    : stream_(stream), seen_(::isatty(::fileno(stream)) == 1) {}

void ProgressBar::Show(std::string_view name, int64_t done, int64_t all, std::string_view rest) {
  if (!seen_) return;
  std::string text = BarText(name, done, all, 30);
  if (!rest.empty()) text += fmt::format("  {}", rest);
  if (text == drawn_) return;
  drawn_ = std::move(text);
  std::fputs(fmt::format("\r{}\x1b[K", drawn_).c_str(), stream_);
  std::fflush(stream_);
}

void ProgressBar::Erase() {
  if (drawn_.empty()) return;
  std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
  drawn_.clear();
}

}  // namespace hone
