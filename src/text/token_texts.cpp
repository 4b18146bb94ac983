#include "text/token_texts.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace hone {

std::vector<std::string> TokenTexts(const Tokenizer* tokenizer,
                                    const std::vector<TokenId>& tokens) {
  std::vector<std::string> texts;
  texts.reserve(tokens.size());
  std::string waiting;  // bytes that may begin a character
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokenizer == nullptr || !tokenizer->IsToken(tokens[i])) {
      texts.push_back(fmt::format("{}{} ", Utf8Lossy(waiting), tokens[i]));
      waiting.clear();
      continue;
    }
    waiting += tokenizer->TokenBytes(tokens[i]);
    const size_t keep = i + 1 < tokens.size() ? Utf8IncompleteSuffix(waiting) : 0;
    texts.push_back(Utf8Lossy(std::string_view(waiting).substr(0, waiting.size() - keep)));
    waiting.erase(0, waiting.size() - keep);
  }
  return texts;
}

}  // namespace hone
