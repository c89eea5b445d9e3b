/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef EVENTLOOP_TEST_DEATH_H
#define EVENTLOOP_TEST_DEATH_H

#include <csignal>
#include <functional>
#include <iostream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ns3
{
namespace eventloop
{

/// The output of a child process that aborts.
struct Death
{
    bool aborted;     //!< by SIGABRT
    std::string said; //!< on its standard error
};

/// Do something in a child process. @param act what to do. @return how it ended.
inline Death
DieBy(const std::function<void()>& act)
{
    std::cerr.flush();
    int ends[2];
    if (pipe(ends) != 0)
    {
        return {false, "no pipe"};
    }
    const pid_t child = fork();
    if (child == 0)
    {
        const rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none);
        std::signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        act();
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char some[4096];
    for (ssize_t n = 0; (n = read(ends[0], some, sizeof(some))) > 0;)
    {
        said.append(some, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, said};
}

} // namespace eventloop
} // namespace ns3

#endif /* EVENTLOOP_TEST_DEATH_H */
