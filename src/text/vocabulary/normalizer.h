#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/normalize.h"
#include "text/vocabulary/char_map.h"
#include "text/vocabulary/pattern.h"

namespace hone {

// One step that rewrites text before it is cut into pieces (the names are those of tokenizer.json).
struct NormalizeStep {
  enum class Kind {
    kForm,
    kLowercase,
    kStrip,
    kStripAccents,
    kNmt,
    kPrepend,
    kReplace,
    kCharMap,
    kClean,  // of BertNormalizer, as are those below (bert_text.h)
    kSpaceIdeographs,
    kStripNonspacing
  };
  Kind kind = Kind::kForm;
  UnicodeForm form = UnicodeForm::kNfc;     // kForm
  bool left = true, right = true;           // kStrip: which ends lose their white space
  std::string content;                      // kPrepend, kReplace: what is put there
  std::shared_ptr<const Pattern> pattern;   // kReplace: in the place of what
  std::shared_ptr<const CharMap> char_map;  // kCharMap
};

// Rewrites text by one step after the other. Immutable and thread-safe.
class Normalizer {
 public:
  explicit Normalizer(std::vector<NormalizeStep> steps) : steps_(std::move(steps)) {}

  // The text must be UTF-8. `prefixed` is false where the text goes on behind other text: nothing
  // is put before it then.
  std::string Apply(std::string_view text, bool prefixed = true) const;

  // Whether Apply gives back every ASCII text as it is.
  bool KeepsAscii() const;
  const std::vector<NormalizeStep>& steps() const { return steps_; }

 private:
  std::vector<NormalizeStep> steps_;
};

}  // namespace hone
