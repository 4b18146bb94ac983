#include "dash/dash_page.h"

// The files are taken in by the assembler: as a C++ literal they would cost seconds of compiling.
// Where CMake found no built page, HONE_PAGE is not defined.

#ifdef HONE_PAGE
#define HONE_PAGE_FILE(symbol, file)                          \
  asm(".section .rodata\n"                                    \
      ".global hone_page_" #symbol                            \
      "\n"                                                    \
      ".global hone_page_" #symbol                            \
      "_end\n"                                                \
      "hone_page_" #symbol ":\n.incbin \"" HONE_PAGE "/" file \
      "\"\n"                                                  \
      "hone_page_" #symbol "_end:\n.byte 0\n.previous\n");    \
  extern "C" const char hone_page_##symbol[];                 \
  extern "C" const char hone_page_##symbol##_end[];

HONE_PAGE_FILE(html, "index.html")
HONE_PAGE_FILE(js, "dash.js")
HONE_PAGE_FILE(css, "dash.css")
#endif

namespace hone {
namespace {

#ifdef HONE_PAGE
std::string_view Between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}
#endif

}  // namespace

std::optional<PageFile> FindPageFile([[maybe_unused]] std::string_view path) {
#ifdef HONE_PAGE
  if (path == "/") {
    return PageFile{"text/html; charset=utf-8", Between(hone_page_html, hone_page_html_end)};
  }
  if (path == "/dash.js") {
    return PageFile{"text/javascript; charset=utf-8", Between(hone_page_js, hone_page_js_end)};
  }
  if (path == "/dash.css") {
    return PageFile{"text/css; charset=utf-8", Between(hone_page_css, hone_page_css_end)};
  }
#endif
  return std::nullopt;
}

bool HasPage() { return FindPageFile("/").has_value(); }

std::string_view HowToGetThePage() {
  return "this hone was built without the dashboard's page, which needs npm: install nodejs (18 or "
         "newer) and npm, then run ./dev build; the data is served all the same, under /api/";
}

}  // namespace hone
