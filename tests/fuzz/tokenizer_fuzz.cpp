// Any bytes as a tokenizer.json; and any text through a tokenizer that loads.

#include <cstdint>

#include "base/check.h"
#include "base/utf8.h"
#include "text/bpe_trainer.h"
#include "text/normalize.h"
#include "text/tokenizer.h"

namespace {

const hone::Tokenizer& Trained() {
  static const hone::Tokenizer tokenizer = [] {
    hone::BpeTrainingOptions options;
    options.vocab_size = 300;
    options.added = {{.content = "<|im_end|>", .special = true},
                     {.content = "<t>", .lstrip = true, .rstrip = true},
                     {.content = "né", .normalized = true}};
    return hone::TrainBpe({"the rain in Spain stays mainly in the plain; the rain, the rain"},
                          options)
        .value();
  }();
  return tokenizer;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto loaded = hone::Tokenizer::FromJson(text);
  if (loaded.ok()) {
    const auto ids = loaded->Encode("Hello, wörld! 123 <|im_end|>\n\n x");
    for (const hone::TokenId id : ids) CHECK(id >= 0 && id < loaded->vocab_size());
    (void)loaded->Decode(ids);
    auto again = hone::Tokenizer::FromJson(loaded->ToJson());
    CHECK(again.ok(), again.ok() ? "" : again.error().message());
  }
  const hone::Tokenizer& tokenizer = Trained();
  const std::string valid = hone::Utf8Lossy(text);
  const auto ids = tokenizer.Encode(text);
  CHECK(ids == tokenizer.Encode(valid));
  if (valid.find("<t>") == std::string::npos) {  // which takes white space along
    CHECK(tokenizer.Decode(ids) == hone::ToNfc(valid));
  }
  const std::vector<hone::ByteRange> all = {{0, valid.size()}};
  for (const hone::TokenId id : tokenizer.Encode(valid, all)) CHECK(!tokenizer.IsSpecial(id));
  hone::StreamDecoder decoder(&tokenizer);
  std::string streamed;
  for (const hone::TokenId id : ids) streamed += decoder.Feed(id);
  CHECK(streamed + decoder.Finish() == tokenizer.Decode(ids));
  return 0;
}
