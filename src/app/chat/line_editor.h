#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "app/chat/line_buffer.h"
#include "base/result.h"

namespace hone {

// Reads lines from a person at a terminal, who can edit them: arrows, Home and End, Ctrl-A, E, K,
// U, W and Y, words with Ctrl or Alt, and earlier lines with Up and Down. The terminal is as it was
// whenever no line is being read. One thread.
class LineEditor {
 public:
  // `input` must be a terminal. The history is read from the file, and lines are added to it as
  // they are entered; empty: none is kept. A file that cannot be had is no reason not to read.
  LineEditor(int input, int output, std::filesystem::path history);

  // The line; nothing at its end: Ctrl-D, or Ctrl-C, on an empty one, or the terminal is gone.
  // Ctrl-C throws away what was written. The prompt is shown in bold where `bold` says so.
  struct Prompt {
    std::string text;
    bool bold = false;
    bool remember = true;  // the line becomes part of the history
  };
  std::optional<std::string> Read(const Prompt& prompt);

 private:
  enum class Outcome { kGoOn, kEntered, kLeft };
  Outcome Press(const Key& key, LineBuffer* line);
  std::optional<Key> NextKey();
  void Draw(const Prompt& prompt, const LineBuffer& line) const;
  void Write(std::string_view text) const;
  void Remember(const std::string& line);

  const int input_, output_;
  const std::filesystem::path file_;
  LineHistory history_;
  std::string bytes_;  // that came and are no key yet
};

// Where lines that were said to agents are kept: $XDG_STATE_HOME/hone/chat_history, else below
// ~/.local/state; empty where neither is known.
std::filesystem::path ChatHistoryFile();

}  // namespace hone
