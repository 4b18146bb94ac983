#include "app/chat/line_editor.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "app/terminal.h"
#include "base/file.h"
#include "base/utf8.h"

namespace hone {
namespace {

constexpr int kEscapeDelayMs = 50;  // a key's bytes come together

// The terminal gives every byte at once and echoes nothing, until this is gone.
class RawMode {
 public:
  explicit RawMode(int descriptor) : descriptor_(descriptor) {
    active_ = ::tcgetattr(descriptor, &before_) == 0;
    if (!active_) return;
    termios raw = before_;
    raw.c_iflag &= ~static_cast<tcflag_t>(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | IEXTEN | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    ::tcsetattr(descriptor, TCSADRAIN, &raw);
  }
  ~RawMode() {
    if (active_) ::tcsetattr(descriptor_, TCSADRAIN, &before_);
  }
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;

 private:
  const int descriptor_;
  termios before_{};
  bool active_ = false;
};

int WidthOf(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

LineEditor::LineEditor(int input, int output, std::filesystem::path history)
    : input_(input), output_(output), file_(std::move(history)) {
  const Result<std::string> kept =
      file_.empty() || !Exists(file_) ? std::string() : ReadFile(file_);
  if (!kept.ok()) return;
  for (size_t at = 0; at < kept->size();) {
    const size_t end = std::min(kept->find('\n', at), kept->size());
    history_.Add(Utf8Lossy(std::string_view(*kept).substr(at, end - at)));
    at = end + 1;
  }
}

void LineEditor::Write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(output_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

std::optional<Key> LineEditor::NextKey() {
  while (true) {
    pollfd waiting{input_, POLLIN, 0};
    const bool begun = !bytes_.empty();
    const bool more = !begun || ::poll(&waiting, 1, kEscapeDelayMs) > 0;
    if (std::optional<Key> key = TakeKey(&bytes_, more)) return key;
    char buffer[256];
    const ssize_t count = ::read(input_, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;  // the terminal is gone
    bytes_.append(buffer, static_cast<size_t>(count));
  }
}

void LineEditor::Draw(const Prompt& prompt, const LineBuffer& line) const {
  const Terminal terminal{.colour = prompt.bold};
  const int taken = Columns(prompt.text);
  const LineWindow window = WindowOf(line, std::max(WidthOf(output_) - taken, 8));
  std::string text = "\r" + terminal.Bold(prompt.text) + window.shown + "\x1b[K\r";
  const int column = taken + window.cursor_column;
  if (column > 0) text += fmt::format("\x1b[{}C", column);
  Write(text);
}

LineEditor::Outcome LineEditor::Press(const Key& key, LineBuffer* line) {
  switch (key.kind) {
    case KeyKind::kEnter: return Outcome::kEntered;
    case KeyKind::kUp:
      if (auto above = history_.Up(line->text())) *line = LineBuffer(*std::move(above));
      return Outcome::kGoOn;
    case KeyKind::kDown:
      if (auto below = history_.Down()) *line = LineBuffer(*std::move(below));
      return Outcome::kGoOn;
    case KeyKind::kClear: Write("\x1b[2J\x1b[H"); return Outcome::kGoOn;
    case KeyKind::kInterrupt:
      if (line->text().empty()) return Outcome::kLeft;
      Write("^C\r\n");
      *line = LineBuffer();
      history_.Rewind();
      return Outcome::kGoOn;
    case KeyKind::kEndOfInput:
      if (line->text().empty()) return Outcome::kLeft;
      line->Press({KeyKind::kDelete, ""});
      return Outcome::kGoOn;
    default: line->Press(key); return Outcome::kGoOn;
  }
}

std::optional<std::string> LineEditor::Read(const Prompt& prompt) {
  const RawMode raw(input_);
  LineBuffer line;
  history_.Rewind();
  Outcome outcome = Outcome::kGoOn;
  while (outcome == Outcome::kGoOn) {
    Draw(prompt, line);
    const std::optional<Key> key = NextKey();
    outcome = key ? Press(*key, &line) : Outcome::kLeft;
  }
  line.Press({KeyKind::kEnd, ""});
  Draw(prompt, line);
  Write("\r\n");
  if (outcome == Outcome::kLeft) return std::nullopt;
  if (prompt.remember) Remember(line.text());
  return line.text();
}

void LineEditor::Remember(const std::string& line) {
  if (line.empty()) return;
  history_.Add(line);
  if (file_.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(file_.parent_path(), ignored);
  // What people say is theirs alone.
  const int file = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  std::string text;
  for (const std::string& one : history_.lines()) text += one + "\n";
  [[maybe_unused]] const ssize_t written = ::write(file, text.data(), text.size());
  ::close(file);
}

std::filesystem::path ChatHistoryFile() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::filesystem::path() : std::filesystem::path(value);
  };
  std::filesystem::path state = variable("XDG_STATE_HOME");
  if (!state.is_absolute()) {
    const std::filesystem::path home = variable("HOME");
    if (!home.is_absolute()) return {};
    state = home / ".local" / "state";
  }
  return state / "hone" / "chat_history";
}

}  // namespace hone
