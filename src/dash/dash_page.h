#pragma once

#include <optional>
#include <string_view>

namespace hone {

// A file of the dashboard's page, as web/ was built into the program. Lives as long as the program.
struct PageFile {
  std::string_view content_type;
  std::string_view content;
};

// The file of a path ("/", "/dash.js", "/dash.css"); nothing for any other, and for all of them
// when the program was built without the page.
std::optional<PageFile> FindPageFile(std::string_view path);

bool HasPage();
// What to do where there is no page, in one sentence.
std::string_view HowToGetThePage();

}  // namespace hone
