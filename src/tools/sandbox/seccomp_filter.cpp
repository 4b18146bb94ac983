#include "tools/sandbox/seccomp_filter.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "tools/sandbox/launch.h"

namespace hone {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the filter of system calls knows x86-64 and aarch64"
#endif

// What programs need that compute, use memory, threads and files, and look at the clock. None of
// these reaches another process or the network; files are the business of the mounts or Landlock.
constexpr int kHarmless[] = {
    // files
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev,
    SYS_preadv2, SYS_pwritev2, SYS_openat, SYS_close, SYS_close_range, SYS_lseek, SYS_newfstatat,
    SYS_fstat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_faccessat, SYS_faccessat2, SYS_readlinkat,
    SYS_getdents64, SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_mkdirat, SYS_unlinkat, SYS_renameat,
    SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_mknodat, SYS_ftruncate, SYS_fadvise64,
    SYS_readahead, SYS_fsync, SYS_fdatasync, SYS_flock, SYS_sendfile, SYS_copy_file_range,
    SYS_umask, SYS_dup, SYS_dup3, SYS_pipe2, SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr,
    SYS_listxattr, SYS_llistxattr, SYS_flistxattr,
#if defined(__x86_64__)
    SYS_open, SYS_creat, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_getdents, SYS_mkdir,
    SYS_rmdir, SYS_unlink, SYS_rename, SYS_link, SYS_symlink, SYS_mknod, SYS_dup2, SYS_pipe,
#endif
    // waiting
    SYS_ppoll, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_epoll_pwait2,
    SYS_eventfd2, SYS_signalfd4, SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime,
#if defined(__x86_64__)
    SYS_poll, SYS_select, SYS_epoll_create, SYS_epoll_wait, SYS_eventfd, SYS_signalfd, SYS_alarm,
    SYS_pause,
#endif
    // memory
    SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_msync, SYS_mincore,
    SYS_mlock, SYS_mlock2, SYS_munlock, SYS_mbind, SYS_get_mempolicy, SYS_set_mempolicy,
    SYS_membarrier,
    // time
    SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_gettimeofday, SYS_nanosleep,
    SYS_times, SYS_getitimer, SYS_setitimer, SYS_timer_create, SYS_timer_settime, SYS_timer_gettime,
    SYS_timer_getoverrun, SYS_timer_delete,
#if defined(__x86_64__)
    SYS_time, SYS_arch_prctl,
#endif
    // threads, and what a process may ask about itself
    SYS_futex, SYS_set_robust_list, SYS_get_robust_list, SYS_set_tid_address, SYS_rseq, SYS_exit,
    SYS_exit_group, SYS_execve, SYS_wait4, SYS_waitid, SYS_sched_yield, SYS_sched_getaffinity,
    SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_get_priority_max,
    SYS_sched_get_priority_min, SYS_sched_getattr, SYS_getcpu, SYS_getpid, SYS_gettid, SYS_getppid,
    SYS_getpgid, SYS_getsid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getresuid,
    SYS_getresgid, SYS_getgroups, SYS_getpriority, SYS_getrusage, SYS_getrlimit, SYS_setrlimit,
    SYS_capget, SYS_uname, SYS_sysinfo, SYS_getrandom,
#if defined(__x86_64__)
    SYS_getpgrp,
#endif
    // signals to itself
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigsuspend,
    SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_restart_syscall,
    // a pair of sockets, once there is one
    SYS_sendto, SYS_recvfrom, SYS_recvmsg, SYS_shutdown, SYS_getsockopt, SYS_setsockopt,
    SYS_getsockname, SYS_getpeername,
    // giving up more rights
    SYS_seccomp, SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self};

// What a program may try, and is told that it may not. (Everything unlisted is refused too.)
constexpr int kForbidden[] = {SYS_socket,
                              SYS_connect,
                              SYS_bind,
                              SYS_listen,
                              SYS_accept,
                              SYS_accept4,
                              SYS_sendmmsg,
                              SYS_recvmmsg,
                              SYS_ptrace,
                              SYS_process_vm_readv,
                              SYS_process_vm_writev,
                              SYS_kcmp,
                              SYS_pidfd_open,
                              SYS_pidfd_getfd,
                              SYS_pidfd_send_signal,
                              SYS_unshare,
                              SYS_setns,
                              SYS_mount,
                              SYS_umount2,
                              SYS_pivot_root,
                              SYS_chroot,
                              SYS_open_tree,
                              SYS_move_mount,
                              SYS_fsopen,
                              SYS_fsmount,
                              SYS_open_by_handle_at,
                              SYS_bpf,
                              SYS_perf_event_open,
                              SYS_keyctl,
                              SYS_add_key,
                              SYS_request_key,
                              SYS_io_uring_setup,
                              SYS_io_uring_enter,
                              SYS_io_uring_register,
                              SYS_userfaultfd,
                              SYS_shmget,
                              SYS_shmat,
                              SYS_semget,
                              SYS_msgget,
                              SYS_mq_open,
                              SYS_setuid,
                              SYS_setgid,
                              SYS_setresuid,
                              SYS_setresgid,
                              SYS_setgroups,
                              SYS_capset,
                              SYS_personality,
                              SYS_syslog,
                              SYS_reboot,
                              SYS_kexec_load,
                              SYS_init_module,
                              SYS_finit_module,
                              SYS_delete_module,
                              SYS_clock_settime,
                              SYS_settimeofday,
                              SYS_sethostname,
                              SYS_memfd_create,
                              SYS_tkill};

constexpr int kStartProcess[] = {
#if defined(__x86_64__)
    SYS_fork,
    SYS_vfork,
#endif
};

constexpr int kLeaveGroup[] = {SYS_setsid, SYS_setpgid};

constexpr int kFileMetadata[] = {
    SYS_fchmod,      SYS_fchmodat,     SYS_fchown,       SYS_fchownat,
    SYS_utimensat,   SYS_setxattr,     SYS_lsetxattr,    SYS_fsetxattr,
    SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
#if defined(__x86_64__)
    SYS_chmod,       SYS_chown,        SYS_lchown,       SYS_utime,
    SYS_utimes,      SYS_futimesat,
#endif
};

// Their first argument is the process they act on.
constexpr int kSignals[] = {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo};
constexpr int kOnAProcess[] = {SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setscheduler,
                               SYS_sched_setparam, SYS_sched_setattr};

// Older names of fallocate, which every file system takes.
constexpr uint32_t kReserveSpace = 0x40305828, kReserveSpace64 = 0x4030582a,
                   kZeroRange = 0x40305839;

constexpr uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t Refuse(int error) { return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error); }

// Writes the program. A rule is "if the call is this one: ...", and nothing jumps further than
// over the next few instructions, so that rules can stand in any number.
class Assembler {
 public:
  Assembler() {
    Load(offsetof(seccomp_data, arch));
    Emit(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    Return(SECCOMP_RET_KILL_PROCESS);
    LoadCall();
  }

  template <typename Calls>
  void All(const Calls& calls, uint32_t verdict) {
    for (const int call : calls) {
      Emit(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1);
      Return(verdict);
    }
  }
  void One(int call, uint32_t verdict) { All(std::initializer_list<int>{call}, verdict); }

  // The verdict for a call one of whose arguments (its lower 32 bits, which is what the kernel
  // looks at for all that are asked about here) is among `values`; otherwise `otherwise`.
  void ByArgument(int call, int argument, std::initializer_list<uint32_t> values, uint32_t verdict,
                  uint32_t otherwise) {
    const size_t length = 2 + 2 * values.size();
    Emit(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, static_cast<uint8_t>(length));
    LoadArgument(argument);
    for (const uint32_t value : values) {
      Emit(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
      Return(verdict);
    }
    Return(otherwise);
  }

  // clone: flags that make a namespace, or a process that is not below the one that made it, are
  // refused; without CLONE_THREAD the verdict is that
  // for starting a process.
  void Clone(uint32_t process) {
    Emit(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 6);
    LoadArgument(0);
    Emit(BPF_JMP | BPF_JSET | BPF_K, kNamespaces | CLONE_PARENT, 0, 1);
    Return(Refuse(EPERM));
    Emit(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1);
    Return(kAllow);
    Return(process);
  }

  // socketpair: streams between local ends only. A datagram socket could still be pointed at
  // somebody else's address.
  void SocketPair() {
    Emit(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 0, 7);
    LoadArgument(0);
    Emit(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 4);
    LoadArgument(1);
    Emit(BPF_ALU | BPF_AND | BPF_K, 0xf, 0, 0);
    Emit(BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 0, 1);
    Return(kAllow);
    Return(Refuse(EPERM));
  }

  std::vector<sock_filter> Finish(uint32_t otherwise) {
    Return(otherwise);
    return std::move(program_);
  }

 private:
  void Emit(int code, uint32_t k, uint8_t if_true, uint8_t if_false) {
    program_.push_back({static_cast<uint16_t>(code), if_true, if_false, k});
  }
  void Load(size_t offset) { Emit(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset), 0, 0); }
  void LoadCall() { Load(offsetof(seccomp_data, nr)); }
  // The lower half; both architectures are little-endian.
  void LoadArgument(int index) {
    Load(offsetof(seccomp_data, args) + static_cast<size_t>(index) * sizeof(uint64_t));
  }
  void Return(uint32_t verdict) { Emit(BPF_RET | BPF_K, verdict, 0, 0); }

  std::vector<sock_filter> program_;
};

}  // namespace

std::vector<sock_filter> SeccompFilter(const SyscallRules& rules) {
  auto allowed_if = [](bool allowed) { return allowed ? kAllow : Refuse(EPERM); };
  Assembler filter;
  filter.All(kHarmless, kAllow);
  filter.Clone(allowed_if(rules.processes));
  filter.All(kStartProcess, allowed_if(rules.processes));
  // Its flags lie in memory, where a filter cannot look; C libraries fall back on clone.
  filter.One(SYS_clone3, Refuse(ENOSYS));
  filter.All(kLeaveGroup, allowed_if(rules.leave_group));
  filter.All(kFileMetadata, allowed_if(rules.file_metadata));
  filter.One(SYS_truncate, allowed_if(rules.truncate_paths));
  // As a file system says that cannot do it: C libraries then write instead.
  filter.One(SYS_fallocate, rules.allocate_ahead ? kAllow : Refuse(EOPNOTSUPP));
  filter.One(SYS_sendmsg, allowed_if(rules.pass_descriptors));
  for (const int call : kSignals) {
    // Not 0 for signals: that would be the whole group, and us with it.
    filter.ByArgument(call, 0, {kOwnProcess}, kAllow, allowed_if(rules.signal_others));
  }
  for (const int call : kOnAProcess) {
    filter.ByArgument(call, 0, {0, kOwnProcess}, kAllow, allowed_if(rules.adjust_others));
  }
  filter.One(SYS_setpriority, allowed_if(rules.adjust_others));
  // A debugger cannot be invited, and who adopts goes on adopting.
  const uint32_t death = rules.outlive_parent ? PR_SET_PTRACER : PR_SET_PDEATHSIG;
  const uint32_t hiding = rules.hide_files ? PR_SET_PTRACER : PR_SET_DUMPABLE;
  filter.ByArgument(SYS_prctl, 0,
                    {death, hiding, PR_SET_PTRACER, PR_SET_MM, PR_SET_CHILD_SUBREAPER},
                    Refuse(EPERM), kAllow);
  // Signals by way of a descriptor's owner; keystrokes put into a terminal.
  filter.ByArgument(SYS_fcntl, 1, {F_SETOWN, F_SETOWN_EX, F_SETSIG}, Refuse(EPERM), kAllow);
  filter.ByArgument(
      SYS_ioctl, 1,
      {TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP, kReserveSpace, kReserveSpace64, kZeroRange},
      Refuse(EPERM), kAllow);
  filter.SocketPair();
  filter.All(kForbidden, Refuse(EPERM));
  return filter.Finish(Refuse(ENOSYS));
}

}  // namespace hone
