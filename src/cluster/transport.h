#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace hone {

// What ends a run of several processes: one of them is gone, or silent for too long. The text is a
// sentence with a next step. What a run has written so far is whole: it can be resumed.
class ClusterError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Messages between the processes of a run. Between two of them they arrive in the order in which
// they were sent. One thread uses it. Whatever fails throws ClusterError.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;  // from 0
  virtual int size() const = 0;
  // The machine that this process runs on, for people.
  virtual std::string host() const = 0;
  // Does not wait for whoever receives it.
  virtual void Send(int to, std::string bytes) = 0;
  // `in_time`: where it has an end, what waits too long is an error (MpiOptions::patience_seconds).
  virtual std::string Receive(int from, bool in_time = true) = 0;
  // What was sent is on its way for good: it arrives whatever this process does next.
  virtual void Flush() {}
  // What people call the processes, by rank, for what is thrown.
  virtual void NameProcesses(std::vector<std::string> /*names*/) {}
  // All messages have left. To be called by every process, at the end of a run that went well.
  virtual void Close() = 0;
};

// As many transports between threads of this process, each for one of them.
std::vector<std::unique_ptr<Transport>> NewThreadTransports(int count);

}  // namespace hone
