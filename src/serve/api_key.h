#pragma once

#include <optional>
#include <string>

#include "serve/http_server.h"

namespace hone {

// What a request is refused with before its body is read (HttpServerOptions::admit): 401 where a
// key is asked for and it has none. An empty `key` asks for none; /health is open to all.
std::optional<ServerResponse> KeyRefusal(const IncomingRequest& head, const std::string& key);

bool IsHealthPath(const std::string& path);

}  // namespace hone
