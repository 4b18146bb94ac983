#include "tools/sandbox/seccomp_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/check.h"
#include "tools/sandbox/launch.h"

namespace hone {
namespace {

constexpr uint32_t kPermission = SECCOMP_RET_ERRNO | EPERM;
constexpr uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;

// What the kernel would do with a call: the few instructions that the filters are made of, run by
// hand.
uint32_t Verdict(const std::vector<sock_filter>& program, seccomp_data call) {
  uint32_t value = 0;
  for (size_t at = 0; at < program.size(); ++at) {
    const sock_filter& step = program[at];
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        CHECK(step.k + 4 <= sizeof call);
        std::memcpy(&value, reinterpret_cast<const char*>(&call) + step.k, 4);
        break;
      case BPF_ALU | BPF_AND | BPF_K: value &= step.k; break;
      case BPF_JMP | BPF_JEQ | BPF_K: at += value == step.k ? step.jt : step.jf; break;
      case BPF_JMP | BPF_JSET | BPF_K: at += (value & step.k) != 0 ? step.jt : step.jf; break;
      case BPF_RET | BPF_K: return step.k;
      default: CHECK(false, "an instruction that is not used");
    }
  }
  CHECK(false, "the program does not return");
  return 0;
}

uint32_t Verdict(const SyscallRules& rules, long number, std::vector<uint64_t> arguments = {}) {
  seccomp_data call{};
  call.nr = static_cast<int>(number);
#if defined(__x86_64__)
  call.arch = AUDIT_ARCH_X86_64;
#else
  call.arch = AUDIT_ARCH_AARCH64;
#endif
  std::copy(arguments.begin(), arguments.end(), call.args);
  return Verdict(SeccompFilter(rules), call);
}

constexpr uint64_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;

TEST(SeccompFilter, FitsIntoTheKernel) {
  EXPECT_LT(SeccompFilter({}).size(), size_t{BPF_MAXINSNS});
}

TEST(SeccompFilter, AForeignArchitectureEndsTheProcess) {
  seccomp_data call{};
  call.arch = AUDIT_ARCH_I386;
  EXPECT_EQ(Verdict(SeccompFilter({}), call), SECCOMP_RET_KILL_PROCESS);
}

TEST(SeccompFilter, UnknownCallsAreUnknown) {
  for (const long call : {100000L, 0x40000000L + SYS_read, long{SYS_clone3}, long{SYS_swapon}}) {
    EXPECT_EQ(Verdict({}, call), kUnknown) << call;
  }
  EXPECT_EQ(Verdict({}, SYS_read), SECCOMP_RET_ALLOW);
}

TEST(SeccompFilter, ThreadsAlwaysProcessesOnlyWhereAllowedNamespacesNever) {
  SyscallRules without, with;
  with.processes = true;
  for (const SyscallRules& rules : {without, with}) {
    EXPECT_EQ(Verdict(rules, SYS_clone, {kThread}), SECCOMP_RET_ALLOW);
    for (const uint64_t flag : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET,
                                CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP}) {
      EXPECT_EQ(Verdict(rules, SYS_clone, {flag}), kPermission);
      EXPECT_EQ(Verdict(rules, SYS_clone, {flag | kThread}), kPermission);
    }
    EXPECT_EQ(Verdict(rules, SYS_unshare, {0}), kPermission);
  }
  EXPECT_EQ(Verdict(without, SYS_clone, {SIGCHLD}), kPermission);
  EXPECT_EQ(Verdict(with, SYS_clone, {SIGCHLD}), SECCOMP_RET_ALLOW);
#if defined(__x86_64__)
  EXPECT_EQ(Verdict(without, SYS_fork), kPermission);
  EXPECT_EQ(Verdict(with, SYS_vfork), SECCOMP_RET_ALLOW);
#endif
}

TEST(SeccompFilter, NobodyLeavesTheTreeOfProcesses) {
  SyscallRules rules;
  rules.processes = rules.outlive_parent = true;
  EXPECT_EQ(Verdict(rules, SYS_clone, {CLONE_PARENT | SIGCHLD}), kPermission);
  for (const uint64_t adopts : {0, 1}) {
    EXPECT_EQ(Verdict(rules, SYS_prctl, {PR_SET_CHILD_SUBREAPER, adopts}), kPermission);
  }
}

TEST(SeccompFilter, SocketsAreConnectedStreamsOnly) {
  EXPECT_EQ(Verdict({}, SYS_socket, {AF_UNIX, SOCK_STREAM}), kPermission);
  EXPECT_EQ(Verdict({}, SYS_socketpair, {AF_UNIX, SOCK_STREAM}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict({}, SYS_socketpair, {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK}),
            SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict({}, SYS_socketpair, {AF_UNIX, SOCK_DGRAM}), kPermission);
  EXPECT_EQ(Verdict({}, SYS_socketpair, {AF_UNIX, SOCK_SEQPACKET}), kPermission);
  EXPECT_EQ(Verdict({}, SYS_socketpair, {AF_INET, SOCK_STREAM}), kPermission);
}

TEST(SeccompFilter, OthersAreLeftAloneWhereTheRulesSaySo) {
  SyscallRules alone;
  alone.signal_others = alone.adjust_others = false;
  for (const long call : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo}) {
    EXPECT_EQ(Verdict({}, call, {1}), SECCOMP_RET_ALLOW);
    for (const uint64_t target : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, uint64_t{4711}}) {
      EXPECT_EQ(Verdict(alone, call, {target}), kPermission) << call << " " << target;
    }
    EXPECT_EQ(Verdict(alone, call, {kOwnProcess}), SECCOMP_RET_ALLOW);
  }
  EXPECT_EQ(Verdict(alone, SYS_prlimit64, {0}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(alone, SYS_prlimit64, {kOwnProcess}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(alone, SYS_prlimit64, {1}), kPermission);
  EXPECT_EQ(Verdict(alone, SYS_setpriority, {0, 1}), kPermission);
  EXPECT_EQ(Verdict({}, SYS_tkill, {1}), kPermission);
}

TEST(SeccompFilter, TheOtherRulesSwitchWhatTheySay) {
  SyscallRules strict;
  strict.leave_group = strict.file_metadata = strict.truncate_paths = false;
  for (const long call : {SYS_setsid, SYS_setpgid, SYS_fchmodat, SYS_fchown, SYS_utimensat,
                          SYS_setxattr, SYS_truncate}) {
    EXPECT_EQ(Verdict({}, call), SECCOMP_RET_ALLOW) << call;
    EXPECT_EQ(Verdict(strict, call), kPermission) << call;
  }
  SyscallRules free;
  free.outlive_parent = true;
  EXPECT_EQ(Verdict({}, SYS_prctl, {PR_SET_PDEATHSIG}), kPermission);
  EXPECT_EQ(Verdict(free, SYS_prctl, {PR_SET_PDEATHSIG}), SECCOMP_RET_ALLOW);
  EXPECT_EQ(Verdict(free, SYS_prctl, {PR_SET_PTRACER}), kPermission);
  EXPECT_EQ(Verdict({}, SYS_prctl, {PR_SET_NAME}), SECCOMP_RET_ALLOW);
}

TEST(SeccompFilter, WhatReachesFurtherIsRefused) {
  for (const long call : {SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_mount,
                          SYS_bpf, SYS_perf_event_open, SYS_keyctl, SYS_io_uring_setup,
                          SYS_userfaultfd, SYS_pidfd_open, SYS_connect, SYS_bind, SYS_memfd_create,
                          SYS_shmget, SYS_setresuid, SYS_open_by_handle_at}) {
    EXPECT_EQ(Verdict({}, call), kPermission) << call;
  }
}

}  // namespace
}  // namespace hone
