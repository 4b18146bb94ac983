#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "rollout/policy.h"
#include "rollout/remote_options.h"
#include "rollout/remote_wire.h"
#include "rollout/turn_drawer.h"

namespace hone {

struct HttpRequest;
struct HttpResponse;

// An engine on another machine, or in another process, that draws the turns of a policy: a server
// that takes prompts as tokens and gives tokens with log-probs (docs/remote.md). Thread-safe.
class RemoteEngine {
 public:
  // The key is read once. Asks the server what it is: an error where nobody answers, where the key
  // is not taken, where no model is named and it has several, and where weights would be put into a
  // folder of somebody else's. Nothing is asked with `knock`
  // false, and then nothing can be drawn.
  static Result<std::unique_ptr<RemoteEngine>> Open(const RemoteOptions& options,
                                                    bool knock = true);

  // A turn of a policy, tried again where it is refused or not answered. kStopped after a stop;
  // every other error says who does not answer, and what to do.
  Result<SampleResult> Draw(const RemoteManner& manner, const RemoteTurn& turn,
                            std::stop_token stop) const;
  // How this policy's turns are asked for.
  RemoteManner MannerOf(const Policy& policy) const;

  // The server loads the weights in this folder (SGLang's POST /update_weights_from_disk, which
  // hone serve has, too). Turns that are asked for afterwards are drawn with them. `version` is
  // what the server calls them. Where it says which weights it has now (hone serve does), turns
  // that were drawn with others are refused from here on. No drawer may be there meanwhile.
  // `stop` is asked now and then meanwhile; true ends it with kStopped. It may be null.
  Result<void> Push(const std::filesystem::path& folder, int64_t version,
                    const std::function<bool()>& stop);

  const RemoteOptions& options() const { return options_; }
  // SHA-256 of the weights that the server says it has; empty: it does not say it.
  const std::string& weights() const { return weights_; }
  // Requests that were made again, since the beginning.
  int64_t retries() const { return retries_; }

 private:
  RemoteEngine(RemoteOptions options, std::string key)
      : options_(std::move(options)), key_(std::move(key)) {}

  Result<void> Meet();
  std::string Root() const;
  HttpRequest RequestTo(const std::string& url, const std::string& body) const;
  Result<void> Post(const std::string& url, const std::string& body,
                    const std::function<Result<void>(std::string_view)>& read,
                    const std::stop_token& stop) const;
  std::string Failure(const HttpResponse& response) const;

  RemoteOptions options_;
  const std::string key_;
  std::string weights_;
  std::string pushed_;  // SHA-256, as the server says after a push
  mutable std::atomic<int64_t> retries_ = 0;
};

struct RemoteDrawerOptions {
  // Asked now and then while turns are waited for; true ends drawing with kStopped. May be null.
  std::function<bool()> stop = nullptr;
};

// Turns are asked for as soon as they are wanted, so many at a time as the engine's options say;
// answers come in any order. The engine must outlive it.
std::unique_ptr<TurnDrawer> NewRemoteDrawer(const RemoteEngine* engine, const Policy& policy,
                                            const RemoteDrawerOptions& options = {});

}  // namespace hone
