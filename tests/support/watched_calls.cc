// SPDX-License-Identifier: Apache-2.0
#include "tests/support/watched_calls.h"

#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <ctime>

namespace {

thread_local tfaot_test::AskedCalls asked;

// The C library's own function. dlsym() itself may allocate, so it is not used for the allocator.
template <class Function>
Function* next_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// The allocator, under the names by which glibc lets programs replace it.
extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
void* malloc(std::size_t bytes) {
  ++asked.allocations;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t number, std::size_t bytes) {
  ++asked.allocations;
  return __libc_calloc(number, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  ++asked.allocations;
  return __libc_realloc(memory, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  ++asked.allocations;
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++asked.allocations;
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  ++asked.allocations;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? 12 : 0;
}
void free(void* memory) {
  ++asked.allocations;
  __libc_free(memory);
}

#define TFAOT_WATCHED(counter, name, parameters, arguments)        \
  int name parameters {                                            \
    ++asked.counter;                                               \
    static const auto next = next_function<int parameters>(#name); \
    return next arguments;                                         \
  }
TFAOT_WATCHED(locks, pthread_mutex_lock, (pthread_mutex_t * lock), (lock))
TFAOT_WATCHED(locks, pthread_mutex_trylock, (pthread_mutex_t * lock), (lock))
TFAOT_WATCHED(locks, pthread_mutex_unlock, (pthread_mutex_t * lock), (lock))
TFAOT_WATCHED(locks, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
TFAOT_WATCHED(locks, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
TFAOT_WATCHED(locks, pthread_spin_lock, (pthread_spinlock_t * lock), (lock))
TFAOT_WATCHED(locks, pthread_once, (pthread_once_t * once, void (*work)()), (once, work))
TFAOT_WATCHED(locks, sem_wait, (sem_t * semaphore), (semaphore))
TFAOT_WATCHED(clocks, clock_gettime, (clockid_t clock, timespec* time), (clock, time))
TFAOT_WATCHED(clocks, gettimeofday, (timeval * time, void* zone), (time, zone))
#undef TFAOT_WATCHED
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

}  // extern "C"

namespace tfaot_test {
namespace {

void say(int descriptor, const char* text, std::size_t size) {
  static_cast<void>(!::write(descriptor, text, size));
}

int answer = -1;  // where the child writes

// Nothing but write() and _exit() works here.
void end_at_system_call(int, siginfo_t* info, void*) {
  char text[32];
  const int size = std::snprintf(text, sizeof text, "system call %d", info->si_syscall);
  say(answer, text, static_cast<std::size_t>(size));
  ::_exit(0);
}

// From now on, all system calls but those two raise SIGSYS.
bool forbid_system_calls() {
  struct sigaction action {};
  action.sa_sigaction = &end_at_system_call;
  action.sa_flags = SA_SIGINFO;
  if (::sigaction(SIGSYS, &action, nullptr) != 0) return false;
  constexpr auto kNumber = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

[[noreturn]] void run_watched(const std::function<void()>& prepare,
                              const std::function<void()>& run) {
  prepare();
  if (!forbid_system_calls()) {
    constexpr char kText[] = "skipped: system calls cannot be watched here";
    say(answer, kText, sizeof kText - 1);
    ::_exit(0);
  }
  const AskedCalls before = asked;
  run();
  const AskedCalls after = asked;
  char text[128];
  const std::uint64_t counts[] = {after.allocations - before.allocations,
                                  after.locks - before.locks, after.clocks - before.clocks};
  if (counts[0] + counts[1] + counts[2] > 0) {
    const int size = std::snprintf(text, sizeof text, "%lu allocations, %lu locks, %lu clocks",
                                   counts[0], counts[1], counts[2]);
    say(answer, text, static_cast<std::size_t>(size));
  }
  ::_exit(0);
}

}  // namespace

AskedCalls asked_calls() noexcept { return asked; }

std::string asked_for(const std::function<void()>& prepare, const std::function<void()>& run) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return "skipped: there is no pipe";
  answer = ends[1];
  const pid_t child = ::fork();
  if (child == 0) run_watched(prepare, run);
  ::close(ends[1]);
  std::string text;
  char part[256];
  ssize_t got = 0;
  while ((got = ::read(ends[0], part, sizeof part)) > 0) {
    text.append(part, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) text += "signal " + std::to_string(WTERMSIG(status));
  return text;
}

}  // namespace tfaot_test
