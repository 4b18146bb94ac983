#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

// What `format` of a JSON Schema says of a text, where it is asserted (JsonSchema::Compile).

// The formats that can be told: date-time, date, time, duration, email, hostname, ipv4, ipv6, uri,
// uri-reference, uuid, regex, json-pointer and relative-json-pointer. Formats of other names, those
// of internationalised names among them, say nothing.
std::vector<std::string> KnownFormats();

// Whether the text has the format; true for a format that is not known. Of a hostname, what its
// labels in Punycode stand for is not looked at.
bool HasFormat(std::string_view format, std::string_view text);

}  // namespace hone
