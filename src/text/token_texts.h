#pragma once

#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace hone {

// The text of each token. Bytes of a character that is spread over several tokens stand with the
// last of them; what is no text is shown as U+FFFD. Without a tokenizer: ids.
std::vector<std::string> TokenTexts(const Tokenizer* tokenizer, const std::vector<TokenId>& tokens);

}  // namespace hone
