#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "envs/study/library.h"
#include "tools/toolkit.h"

namespace hone::study {

// Which tools there are, and what they are called.
struct StudyToolNames {
  bool search = true;
  bool python = true;
  std::string python_name = "python";
  bool keep_tasks = false;  // also the tasks that need a tool that is not there
};

inline constexpr int64_t kPassages = 2;  // that a search returns

// `search`: the best documents of the library for a query, by BM25 in which a title counts three
// times, one per line ("Ada Kell: a glazier, born in 1874."). A function of the query.
Result<std::shared_ptr<Toolkit>> NewLibrarySearch(std::shared_ptr<const Library> library);

// `python` under the name that is wanted: code in, what it printed out, an error as its last line.
// Each call starts afresh. Interpreters are started with the first call. The error says why code
// cannot be run here, and what to install.
Result<std::shared_ptr<Toolkit>> NewStudyPython(const std::string& name);

}  // namespace hone::study
