// What is read while it is written against what is read anew each time.

#include "serve/turn_flow.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/rng.h"
#include "base/utf8.h"
#include "support/call_turns.h"
#include "support/template_dialects.h"

namespace hone {
namespace {

// All that was told, one word per call.
struct ToldUntilNow {
  std::string content, reasoning, calls;

  void Add(const TurnDelta& news) {
    content += news.content;
    reasoning += news.reasoning;
    for (const ParsedCall& call : news.calls) Add(call);
  }
  void Add(const ParsedCall& call) { calls += call.name + DumpJson(call.arguments) + ";"; }
  std::string Shown() const { return content + " | " + reasoning + " | " + calls; }
};

// ReadServedText for every piece: the meaning of TurnFlow.
class SlowFlow {
 public:
  SlowFlow(const Dialect* dialect, std::vector<std::string> stops, TurnReadingOptions options)
      : dialect_(dialect), stops_(std::move(stops)), options_(options) {}

  void Feed(std::string_view bytes, ToldUntilNow* told) {
    bytes_ += bytes;
    std::string_view text = BeforeStop(bytes_, stops_);
    text.remove_suffix(Utf8IncompleteSuffix(text));
    const TurnDelta all = ReadServedText(*dialect_, text, stops_, options_, std::nullopt);
    const auto more = [](const std::string& now, std::string* until) {
      if (now.size() > until->size()) *until += now.substr(until->size());
    };
    more(all.content, &told->content);
    more(all.reasoning, &told->reasoning);
    for (; calls_ < all.calls.size(); ++calls_) told->Add(all.calls[calls_]);
  }

 private:
  const Dialect* dialect_;
  std::vector<std::string> stops_;
  TurnReadingOptions options_;
  std::string bytes_;
  size_t calls_ = 0;
};

void ExpectAlike(const Dialect& dialect, const std::string& text, size_t step,
                 const std::vector<std::string>& stops = {}, TurnReadingOptions options = {}) {
  TurnFlow flow(&dialect, stops, options);
  SlowFlow slow(&dialect, stops, options);
  ToldUntilNow fast, slowly;
  for (size_t at = 0; at < text.size(); at += step) {
    const std::string_view piece = std::string_view(text).substr(at, step);
    fast.Add(flow.Feed(piece));
    slow.Feed(piece, &slowly);
    ASSERT_EQ(fast.Shown(), slowly.Shown())
        << dialect.traits().name << " calls " << dialect.traits().call_format << " thinking "
        << options.thinking << " may call " << options.may_call << "\n"
        << text.substr(0, at + step);
  }
}

TEST(TurnFlow, TellsAtEveryByteWhatReadingAnewTells) {
  for (const CallWriter& writer : CallWriters()) {
    const auto dialect = DialectCalling(writer.format);
    for (const std::vector<SpokenCall>& calls : SpokenCalls(writer)) {
      const std::string spoken = writer.write(calls);
      const std::string thought = writer.think_open + "2 < 3 \"so\"" + writer.think_close;
      for (const std::string& text :
           {spoken, thought + "\nOne \"moment.\n" + spoken, spoken + "\nThat is all.",
            "so" + writer.think_close + "\n\n" + spoken + "<|im_end|>"}) {
        for (const bool thinking : {false, true}) {
          ExpectAlike(*dialect, text, 1, {}, {.thinking = thinking});
          if (HasFatalFailure()) return;
        }
        ExpectAlike(*dialect, text, 7, {"all."}, {.may_call = false});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Marks, halves of marks, quotes, calls and words in any order, in every dialect.
TEST(TurnFlow, TellsWhatReadingAnewTellsWhateverTheTextIs) {
  const std::vector<std::unique_ptr<Dialect>> dialects = EveryDialect();
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    for (uint64_t left = rng.Below(12); left > 0; --left) text += TurnFragment(&rng);
    for (const auto& dialect : dialects) {
      const TurnReadingOptions options{.thinking = rng.Below(3) == 0,
                                       .may_call = rng.Below(4) != 0};
      ExpectAlike(*dialect, text, 1 + rng.Below(3), {rng.Below(2) == 0 ? "STOP" : "zzz"}, options);
      if (HasFatalFailure()) return;
    }
  }
}

// Ten times the turn takes ten times the work, and not a hundred: what is counted is how often the
// dialect parses it.
class CountingDialect final : public Dialect {
 public:
  explicit CountingDialect(std::unique_ptr<Dialect> inner) : inner_(std::move(inner)) {}
  const DialectTraits& traits() const override { return inner_->traits(); }
  Result<std::vector<Piece>> Render(const Conversation& conversation) const override {
    return inner_->Render(conversation);
  }
  Result<Piece> Continue(std::string_view turn, const Conversation& next) const override {
    return inner_->Continue(turn, next);
  }
  ParsedTurn Parse(std::string_view turn, TurnEnd end) const override {
    ++parsed;
    return inner_->Parse(turn, end);
  }
  std::string ChatTemplate() const override { return inner_->ChatTemplate(); }

  mutable int parsed = 0;

 private:
  std::unique_ptr<Dialect> inner_;
};

// Fed token by token, it is parsed a few times and has the calls that reading it at once finds; how
// many there are.
size_t CallsOfLongTurn(const CountingDialect& dialect, const std::string& turn,
                       const std::string& label) {
  TurnFlow flow(&dialect, {}, {});
  size_t calls = 0;
  for (size_t at = 0; at < turn.size(); at += 4) {
    calls += flow.Feed(std::string_view(turn).substr(at, 4)).calls.size();
  }
  EXPECT_LE(dialect.parsed, 40) << label;
  EXPECT_EQ(calls, ReadServedText(dialect, turn, {}, {}, std::nullopt).calls.size()) << label;
  return calls;
}

TEST(TurnFlow, ALongTurnIsParsedOncePerCall) {
  std::string code;
  for (int i = 0; i < 2000; ++i) code += "if (a[i] > 0) { return \"x\"; }\n";
  for (const CallWriter& writer : CallWriters()) {
    const CountingDialect dialect(DialectCalling(writer.format));
    const TurnMarks& marks = dialect.traits().marks;
    if (marks.call_closes.empty() && !marks.json_arguments) continue;  // brackets may end any
    const std::string before = writer.traits.alone || writer.traits.own_header ? "" : code;
    const std::string turn =
        before + writer.write({{"write_file", Json::Of({{"text", code}, {"n", 1}})}});
    EXPECT_LE(CallsOfLongTurn(dialect, turn, writer.label), 1u);
  }
}

// The call's JSON with escapes in its texts, as some models write what is not ASCII.
std::string SpokenEscaped(const CallWriter& writer, const std::string& text,
                          const std::string& escape) {
  std::string turn = writer.write({{"write_file", Json::Of({{"text", "@@" + text}, {"n", 1}})}});
  for (size_t at; (at = turn.find("@@")) != turn.npos;) turn.replace(at, 2, escape);
  return turn;
}

TEST(TurnFlow, AnEscapedCharacterDoesNotMakeTheRestSlow) {
  std::string code;
  for (int i = 0; i < 500; ++i) code += "if (a[i] > 0) { return 1; }\n";
  for (const CallWriter& writer : CallWriters()) {
    const CountingDialect dialect(DialectCalling(writer.format));
    if (!dialect.traits().marks.json_arguments) continue;
    const std::string turn = SpokenEscaped(writer, code, "\\u00e9\\u20AC");
    CallsOfLongTurn(dialect, turn, writer.label);
  }
}

TEST(TurnFlow, EscapesOfEveryKindAreToldAsReadingAnewTellsThem) {
  for (const CallWriter& writer : CallWriters()) {
    const auto dialect = DialectCalling(writer.format);
    if (!dialect->traits().marks.json_arguments) continue;
    for (const char* escape : {"\\u00e9", "\\u005D}", "\\u0022}]`", "\\ud83d\\ude00", "\\ud83d",
                               "\\uDE00\\u0041", "\\u12", "\\u12g4", "\\U0041", "\\u\"}]"}) {
      ExpectAlike(*dialect, SpokenEscaped(writer, "}] > \"`", escape), 1);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(MarkWatch, FindsWordsAcrossPieces) {
  MarkWatch watch({"abc", "cd", ""}, 1);
  EXPECT_EQ(watch.First("abc"), std::string_view::npos) << "before where it looks";
  EXPECT_EQ(watch.First("abca"), std::string_view::npos);
  EXPECT_EQ(watch.First("abcabc"), 3u);
  EXPECT_EQ(watch.First("abcabcd"), 3u);
}

}  // namespace
}  // namespace hone
