#pragma once

namespace hone {

// The Python side of a PythonWorker: a supervisor that forks one interpreter after the other, each
// for code of its own. It is given to `python3 -c`, with its settings as JSON in the first argument
// and the control socket (SOCK_SEQPACKET) as descriptor 3.
//
// Control: "next" with three descriptors (conversation, output, error) puts a fresh interpreter in
// the place of the one there is; "end" ends the one there is. Both are answered by one packet of
// JSON that says how the old one ended: {"exit": 3}, {"signal": 9}, {"killed": true}, or {}.
//
// Conversation: one line of JSON each way: {"nonce", "seed", "code"} is answered by {"nonce"} with
// "value" (text of the last expression), "raised" (a traceback) or "long" (either was too long).
// An interpreter that cannot go on because of what the code did to it ends with kBrokenExit.
inline constexpr int kBrokenExit = 70;
extern const char* const kPythonScript;

}  // namespace hone
