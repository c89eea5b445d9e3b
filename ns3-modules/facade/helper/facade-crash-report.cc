/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-crash-report.h"

#include <array>
#include <csignal>
#include <execinfo.h>
#include <string_view>
#include <unistd.h>

namespace ns3
{
namespace facade
{

namespace
{

/// Time limit of a report [s]: unwinding through compiled Python wrappers allocates memory, which
/// blocks forever if the crash is in malloc().
constexpr unsigned PATIENCE = 2;
/// Maximum number of functions in a report.
constexpr int FRAMES = 64;
/// The signal of the crash.
volatile std::sig_atomic_t g_crash;

/// Unblock a signal in this thread.
/// @param number the signal.
void
Unblock(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

/// Terminate by the signal of the crash, whose handler was removed by SA_RESETHAND.
/// @param alarm the signal raised when the report hangs.
void
Die([[maybe_unused]] int alarm)
{
    raise(static_cast<int>(g_crash));
    Unblock(static_cast<int>(g_crash));
}

/// Print the backtrace of this thread, and terminate by the signal.
/// @param number the signal.
void
Report(int number)
{
    g_crash = number;
    std::signal(SIGALRM, Die);
    Unblock(SIGALRM);
    alarm(PATIENCE);

    constexpr std::string_view HEAD = "*** Crash, the innermost function first:\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, HEAD.data(), HEAD.size());
    std::array<void*, FRAMES> frames;
    backtrace_symbols_fd(frames.data(), backtrace(frames.data(), FRAMES), STDERR_FILENO);
    Die(SIGALRM);
}

} // namespace

void
ReportCrashes()
{
    std::array<void*, 1> frame;
    backtrace(frame.data(), 1); // loads a library now; during a crash it is too late

    // a separate stack: after endless recursion the normal one is full
    alignas(16) static std::array<char, 1 << 16> memory;
    stack_t stack{};
    stack.ss_sp = memory.data();
    stack.ss_size = memory.size();
    sigaltstack(&stack, nullptr);

    struct sigaction action{};
    action.sa_handler = Report;
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    {
        sigaction(number, &action, nullptr);
    }
}

} // namespace facade
} // namespace ns3
