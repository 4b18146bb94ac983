#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary/pattern.h"

namespace hone {

// How the spellings of tokens become text: the "decoder" of tokenizer.json.
struct DecodeOptions {
  // A rewriting of each token by itself.
  struct Rewrite {
    std::shared_ptr<const Pattern> pattern;  // what is replaced by `content`, or
    std::string content;
    std::string strip;  // a character that goes from the ends,
    int start = 0;      // from the beginning at most so often,
    int stop = 0;       // and from the end
  };

  bool byte_level = true;      // GPT-2's spelling of bytes; then nothing else counts
  bool byte_fallback = false;  // "<0x0A>" is a byte
  std::vector<Rewrite> rewrites;
  std::string metaspace;            // the character that is a space; "" when there is none
  bool first_has_no_space = false;  // and that the first token loses altogether
  bool word_pieces = false;         // a space before every token but the first and those that
  std::string word_prefix;          // begin with this, which goes;
  bool clean_up = false;            // and none before ".", "n't" and the like
  std::string strip;                // a character that the whole text loses at its beginning,
  int strip_most = 0;               // at most so often

  // The text of one token, which is a byte where ByteOf has one. `first`: of the first of a text.
  std::string TextOf(std::string_view spelling, bool first) const;
  // The byte of "<0x0A>", where the decoder knows bytes.
  std::optional<char> ByteOf(std::string_view spelling) const;
};

// Puts the texts of tokens together. Bytes in a row are text if all of them together are UTF-8,
// else each of them is U+FFFD: what it is shows when the row ends.
class TextJoiner {
 public:
  explicit TextJoiner(const DecodeOptions& options)
      : options_(&options), strips_left_(options.strip_most) {}

  // The text that became certain; may be empty.
  std::string AddText(std::string_view text);
  std::string AddByte(char byte);
  std::string Finish();

  bool empty() const { return empty_; }

 private:
  std::string Emit(std::string text);

  const DecodeOptions* options_;
  std::string bytes_;  // the row that has not ended
  int strips_left_;
  bool empty_ = true;  // nothing was added yet
};

}  // namespace hone
