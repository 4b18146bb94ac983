#pragma once

#include "dash/dash_board.h"
#include "serve/http_server.h"

namespace hone {

// The answer to one request of the dashboard's page or of a program (docs/dashboard.md):
//
//   /                 the page; /dash.js, /dash.css
//   /api/runs         all runs, a line each
//   /api/run          ?run=ID
//   /api/metrics      ?run=ID&names=a,b&generation=G&row=N
//   /api/groups       ?run=ID and filters
//   /api/group        ?run=ID&id=N&method=M
//   /api/methods      methods of credit
//
// GET and HEAD only. Nothing of a path reaches the file system: a run is one of those that were
// found, or it is not there. Errors are {"error": message} with a status that fits.
ServerResponse AnswerDash(const IncomingRequest& request, DashBoard* board, double now);

}  // namespace hone
