// Many clients for a long time: every request is answered, and nothing is left behind.

#include <atomic>
#include <thread>

#include "e2e/serving.h"

namespace hone {
namespace {

// Kibibytes that the program holds, and the files that it has open.
int64_t ResidentKib(int pid) {
  const std::string status = ReadFile("/proc/" + std::to_string(pid) + "/status").value();
  return std::stoll(status.substr(status.find("VmRSS:") + 6));
}
int64_t OpenFiles(int pid) {
  const std::filesystem::directory_iterator files("/proc/" + std::to_string(pid) + "/fd");
  return std::distance(begin(files), end(files));
}

TEST(ServeLoad, SixtyFourClientsAndTenThousandRequestsWithoutAFailureOrALeak) {
  TemporaryDirectory directory;
  ServedProgram served(FreshModel(directory.path()));
  constexpr int kClients = 64, kRequests = 10'000;
  std::atomic<int> next = 0, failed = 0;
  int64_t kib = 0, files = 0;
  const auto serve_until = [&](int last) {
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.emplace_back([&] {
        while (true) {
          const int number = next.fetch_add(1);
          if (number >= last) {
            next.fetch_sub(1);
            return;
          }
          const Json body = Json::Of({{"model", "fresh"},
                                      {"prompt", "Request " + std::to_string(number % 100)},
                                      {"max_tokens", 2 + number % 7},
                                      {"seed", number}});
          if (number % 3 == 0) {
            const Streamed streamed = Stream(served, "/completions", body);
            failed += !streamed.done;
          } else {
            failed += served.Ask("/completions", body).status != 200;
          }
        }
      });
    }
    for (std::thread& client : clients) client.join();
  };
  serve_until(2'000);  // whatever is kept on purpose is there
  kib = ResidentKib(served.pid());
  files = OpenFiles(served.pid());
  serve_until(kRequests);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(*served.Health().Find("requests"), Json(kRequests));
  EXPECT_EQ(*served.Health().Find("live"), Json(0));
  const int64_t grown = ResidentKib(served.pid()) - kib;
  std::printf("%d requests; the server holds %lld KiB more after the last 8,000\n", kRequests,
              static_cast<long long>(grown));
  EXPECT_LT(grown, 16 << 10);
  EXPECT_LE(OpenFiles(served.pid()), files + 2) << "connections are closed";
  EXPECT_EQ(served.End(), 0);
}

}  // namespace
}  // namespace hone
