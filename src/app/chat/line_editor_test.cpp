#include "app/chat/line_editor.h"

#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/file.h"

namespace hone {
namespace {

// A terminal whose keys a test presses beforehand.
class PseudoTerminal {
 public:
  PseudoTerminal() {
    winsize size{.ws_row = 24, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(::openpty(&keyboard_, &line_, nullptr, nullptr, &size), 0);
    // As the editor will have it: nothing that is pressed before is taken for a signal.
    termios raw{};
    ::tcgetattr(line_, &raw);
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | IXON);
    ::tcsetattr(line_, TCSANOW, &raw);
  }
  ~PseudoTerminal() {
    ::close(keyboard_);
    ::close(line_);
  }

  void Press(std::string_view keys) const {
    EXPECT_EQ(::write(keyboard_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  std::string Screen() const {
    char buffer[65536];
    const ssize_t count = ::read(keyboard_, buffer, sizeof buffer);
    return std::string(buffer, static_cast<size_t>(std::max<ssize_t>(count, 0)));
  }
  tcflag_t Modes() const {
    termios now{};
    ::tcgetattr(line_, &now);
    return now.c_lflag;
  }
  int line() const { return line_; }

 private:
  int keyboard_ = -1, line_ = -1;
};

TEST(LineEditor, LinesAreEditedAndComeBackWithTheArrows) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "state" / "history";
  const PseudoTerminal terminal;
  const tcflag_t modes = terminal.Modes();
  {
    LineEditor editor(terminal.line(), terminal.line(), file);
    terminal.Press(
        "Hullo\x1b[D\x1b[D\x1b[D\x7f"
        "a\r");
    EXPECT_EQ(editor.Read({"you> "}), "Hallo");
    EXPECT_EQ(terminal.Modes(), modes) << "the terminal is as it was";
    terminal.Press("y\r");
    EXPECT_EQ(editor.Read({.text = "sure? ", .remember = false}), "y");
    terminal.Press("\x1b[A!\r");
    EXPECT_EQ(editor.Read({"you> "}), "Hallo!");
    const std::string screen = terminal.Screen();
    EXPECT_NE(screen.find("\ryou> Hallo\x1b[K\r"), std::string::npos) << screen;
  }
  EXPECT_EQ(*ReadFile(file), "Hallo\nHallo!\n");
  EXPECT_EQ(std::filesystem::status(file).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  LineEditor later(terminal.line(), terminal.line(), file);
  terminal.Press("\x1b[A\x1b[A\r");
  EXPECT_EQ(later.Read({"you> "}), "Hallo") << "also the next day";
}

TEST(LineEditor, ControlKeysThrowALineAwayOrLeave) {
  const PseudoTerminal terminal;
  LineEditor editor(terminal.line(), terminal.line(), "");
  terminal.Press("never mind\x03said\r");
  EXPECT_EQ(editor.Read({"> "}), "said");
  terminal.Press("ab\x01\x04\r");
  EXPECT_EQ(editor.Read({"> "}), "b") << "Ctrl-D deletes where there is something";
  terminal.Press("\x04");
  EXPECT_EQ(editor.Read({"> "}), std::nullopt);
  terminal.Press("\x03");
  EXPECT_EQ(editor.Read({"> "}), std::nullopt);
}

TEST(LineEditor, TheHistoryLiesWhereStateBelongs) {
  ::setenv("XDG_STATE_HOME", "/somewhere/state", 1);
  EXPECT_EQ(ChatHistoryFile(), "/somewhere/state/hone/chat_history");
  ::unsetenv("XDG_STATE_HOME");
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(ChatHistoryFile(), "/home/me/.local/state/hone/chat_history");
}

}  // namespace
}  // namespace hone
