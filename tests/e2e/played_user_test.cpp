// A customer of the service desk who is played by a language model, as a recipe says it.

#include <fmt/format.h>

#include "base/file.h"
#include "e2e/program.h"
#include "envs/service/shop.h"
#include "envs/service/user.h"
#include "support/chat_server.h"

namespace hone {
namespace {

class PlayedUser : public testing::Test {
 protected:
  using Say = std::function<service::ScriptedUser::Line(const std::string& prompt)>;

  std::string File(const std::string& name) const { return (folder_.path() / name).string(); }

  void WriteRecipe(const std::string& url) {
    ASSERT_TRUE(
        WriteFileAtomic(File("service.toml"),
                        fmt::format("[environment]\nkind = \"service\"\n[environment.tasks]\n"
                                    "kinds = [\"address\"]\ntwo_goals = 0\n"
                                    "[user]\nkind = \"endpoint\"\nurl = \"{}\"\nmodel = \"m\"\n",
                                    url))
            .ok());
  }

  Json FirstTask() {
    WriteRecipe("http://127.0.0.1:1/v1");
    const SubprocessResult shown = Hone({"env", "show", File("service.toml"), "--json"});
    EXPECT_EQ(shown.exit_code, 0) << shown.standard_error;
    // The agent neither sees nor can call the user.
    EXPECT_EQ(ParseJson(shown.standard_output)->Find("tools")->AsArray().size(), 7u);
    return *ParseJson(shown.standard_output)->Find("task");
  }

  // Lets the gold clerk serve the first customer; what became of it.
  Json Serve(const Say& say, const std::vector<std::string>& more = {}) {
    server_ = std::make_unique<ChatServer>([say](const ChatServer::Request& request) {
      const service::ScriptedUser::Line line =
          say(request.body.Find("messages")->AsArray()[1].Find("content")->AsString());
      return ChatServer::Says(DumpJson(Json::Of({{"text", line.text}, {"stop", line.stop}})));
    });
    WriteRecipe(server_->url());
    return Play(more);
  }

  Json Play(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "env", "play", File("service.toml"), "--agent", "gold", "-n", "1", "-o", File("out.jsonl")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const SubprocessResult result = Hone(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    return ParseJsonLines(ReadFile(File("out.jsonl")).value()).value().at(0);
  }

  void ExpectUserBlamed(const Json& episode) {
    EXPECT_EQ(*episode.Find("ending"), Json("failed")) << DumpJson(episode);
    EXPECT_EQ(*episode.Find("blame"), Json("user_simulator"));
    EXPECT_EQ(*episode.Find("success"), Json(false));
    EXPECT_EQ(server_->requests(), 3) << "it was given three tries";
  }

  const TemporaryDirectory folder_;
  std::unique_ptr<ChatServer> server_;
};

// A line that a model in the role might say: what the scripted customer says to the same clerk.
service::ScriptedUser::Line GoodLine(const Json& task, const std::string& prompt) {
  std::vector<std::string> outputs;
  service::ScriptedUser user(service::ScriptFromJson(*task.Find("metadata")->Find("user")).value(),
                             outputs);
  service::ScriptedUser::Line line;
  constexpr std::string_view kClerk = "\nClerk: ";
  for (size_t at = prompt.find(kClerk); at != std::string::npos; at = prompt.find(kClerk, at + 1)) {
    const size_t begin = at + kClerk.size();
    line = user.Reply(prompt.substr(begin, prompt.find('\n', begin) - begin));
  }
  return line;
}

TEST_F(PlayedUser, AGoodOneIsServed) {
  const Json task = FirstTask();
  const Json episode = Serve([&](const std::string& prompt) { return GoodLine(task, prompt); });
  EXPECT_EQ(*episode.Find("success"), Json(true)) << DumpJson(episode, JsonStyle::kPretty);
  EXPECT_EQ(*episode.Find("ending"), Json("user_stop"));
}

TEST_F(PlayedUser, OneWhoLeavesBeforeItCouldBeServedIsToBlame) {
  ExpectUserBlamed(Serve([](const std::string&) {
    return service::ScriptedUser::Line{"Never mind, bye.", true};
  }));
}

TEST_F(PlayedUser, OneWhoWantsSomethingElseIsToBlame) {
  const Json task = FirstTask();
  const std::string wanted =
      task.Find("metadata")->Find("user")->Find("goals")->AsArray()[0].Find("order")->AsString();
  const service::Shop shop = service::ShopOf(*task.Find("metadata")->Find("seed")->AsUint64());
  const std::string other = shop.orders[0].id == wanted ? shop.orders[1].id : shop.orders[0].id;
  ExpectUserBlamed(Serve([&](const std::string&) {
    return service::ScriptedUser::Line{"It is about order " + other + ".", false};
  }));
}

TEST_F(PlayedUser, OneWhoRecitesItsGoalIsToBlame) {
  ExpectUserBlamed(Serve([](const std::string& prompt) {
    const size_t begin = prompt.find(": ") + 2;
    return service::ScriptedUser::Line{prompt.substr(begin, prompt.find('\n') - begin), false};
  }));
}

TEST_F(PlayedUser, InASimulatedShopTheUserIsStillTheUserAndAReplayNeedsNobody) {
  const Json task = FirstTask();
  const std::vector<std::string> journal = {"--journal", File("twin.sqlite"), "--mode"};
  auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> all = journal;
    all.insert(all.end(), more);
    return all;
  };
  const Json first = Serve([&](const std::string& prompt) { return GoodLine(task, prompt); },
                           with({"simulate", "--set", "simulator.kind=random"}));
  EXPECT_GT(server_->requests(), 1);
  EXPECT_NE(*first.Find("blame"), Json("user_simulator")) << DumpJson(first);
  server_.reset();
  EXPECT_EQ(Play(with({"replay"})), first);
}

TEST_F(PlayedUser, WhereNobodyAsksForAUserTheRecipeIsWrong) {
  const std::string file = File("desk.toml");
  ASSERT_TRUE(
      WriteFileAtomic(file, "[environment]\nkind = \"desk\"\n[user]\nurl = \"http://x\"\n").ok());
  ExpectError(Hone({"env", "show", file}), 1, "nobody asks the user in desk");
}

}  // namespace
}  // namespace hone
