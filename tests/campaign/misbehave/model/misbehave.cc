/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "misbehave.h"

#include "ns3/enum.h"
#include "ns3/fatal-error.h"
#include "ns3/lossless-switch.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace ns3
{
namespace misbehave
{

NS_OBJECT_ENSURE_REGISTERED(Misbehave);

namespace
{

/// What a terminal would obey: a title, colours, a bell, the cursor's way up.
constexpr const char* ESCAPES_TEXT = "\x1b]0;title\x07\x1b[31mred\x1b[2J\x1b[10A\r\x9b"
                                     "1m\b\b";

/// Use up the stack. @param depth how deep it is. @return something that needs the call.
int
Recurse(int depth)
{
    volatile char here[4096];
    here[0] = static_cast<char>(depth);
    return here[0] + Recurse(depth + 1);
}

/// Schedule itself for now, for ever.
void
Again()
{
    Simulator::ScheduleNow(&Again);
}

} // namespace

TypeId
Misbehave::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::misbehave::Misbehave")
            .SetParent<lossless::ForwardingPolicy>()
            .SetGroupName("misbehave")
            .AddConstructor<Misbehave>()
            .AddAttribute("Deed",
                          "What is done.",
                          EnumValue(NOTHING),
                          MakeEnumAccessor<Deed>(&Misbehave::m_deed),
                          MakeEnumChecker(NOTHING,
                                          "nothing",
                                          LOOP,
                                          "loop",
                                          SLEEP,
                                          "sleep",
                                          LIVELOCK,
                                          "livelock",
                                          EXIT_0,
                                          "exit-0",
                                          EXIT_3,
                                          "exit-3",
                                          QUICK_EXIT_0,
                                          "quick-exit-0",
                                          ABORT,
                                          "abort",
                                          FATAL,
                                          "fatal",
                                          THROW_TEXT,
                                          "throw-text",
                                          THROW_NUMBER,
                                          "throw-number",
                                          NULL_POINTER,
                                          "null-pointer",
                                          RECURSE,
                                          "recurse",
                                          KILL,
                                          "kill",
                                          TERMINATE,
                                          "terminate",
                                          INTERRUPT,
                                          "interrupt",
                                          KILL_PARENT,
                                          "kill-parent",
                                          CLOSE_FILES,
                                          "close-files",
                                          NO_MEMORY,
                                          "no-memory",
                                          ESCAPES,
                                          "escapes",
                                          FLOOD,
                                          "flood",
                                          STOP,
                                          "stop"))
            .AddAttribute("Moment",
                          "When it is done.",
                          EnumValue(FRAME),
                          MakeEnumAccessor<Moment>(&Misbehave::m_moment),
                          MakeEnumChecker(START, "start", FRAME, "frame", REPORT, "report"))
            .AddAttribute("After",
                          "Frames that are forwarded before, if the moment is a frame's.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Misbehave::m_after),
                          MakeUintegerChecker<uint32_t>());
    return tid;
}

void
Misbehave::Start()
{
    Do(START);
}

std::size_t
Misbehave::Choose(const lossless::Frame& frame, lossless::NextHops hops)
{
    if (m_seen++ == m_after)
    {
        Do(FRAME);
    }
    return m_switch->GetRoutes().HashTo(m_switch->GetId(), frame, hops.size());
}

void
Misbehave::Report(lossless::Summary& summary) const
{
    Do(REPORT);
}

void
Misbehave::Do(Moment moment) const
{
    if (moment != m_moment)
    {
        return;
    }
    volatile int* nowhere = nullptr;
    switch (m_deed)
    {
    case NOTHING:
        return;
    case LOOP:
        for (volatile uint64_t turns = 0;; turns = turns + 1)
        {
        }
    case SLEEP:
        for (;;)
        {
            pause();
        }
    case LIVELOCK:
        Again();
        return;
    case EXIT_0:
        std::exit(0);
    case EXIT_3:
        std::exit(3);
    case QUICK_EXIT_0:
        _exit(0);
    case ABORT:
        std::abort();
    case FATAL:
        NS_FATAL_ERROR("a module's fatal error " << ESCAPES_TEXT);
    case THROW_TEXT:
        throw std::runtime_error(ESCAPES_TEXT + std::string(100'000, 'x'));
    case THROW_NUMBER:
        throw 42;
    case NULL_POINTER:
        *nowhere = 1;
        return;
    case RECURSE:
        Recurse(0);
        return;
    case KILL:
        std::raise(SIGKILL);
        return;
    case TERMINATE:
        std::raise(SIGTERM);
        return;
    case INTERRUPT:
        std::raise(SIGINT);
        return;
    case KILL_PARENT:
        kill(getppid(), SIGKILL);
        return;
    case CLOSE_FILES:
        for (int file = 0; file < 1024; ++file)
        {
            close(file);
        }
        return;
    case NO_MEMORY:
        throw std::bad_alloc();
    case ESCAPES:
        std::fputs(ESCAPES_TEXT, stdout);
        std::fputs(ESCAPES_TEXT, stderr);
        return;
    case FLOOD:
        for (int line = 0; line < 100'000; ++line)
        {
            std::fprintf(stderr,
                         "%d %s a line of a module that says too much\n",
                         line,
                         ESCAPES_TEXT);
        }
        return;
    case STOP:
        Simulator::Stop();
        return;
    }
}

} // namespace misbehave
} // namespace ns3
