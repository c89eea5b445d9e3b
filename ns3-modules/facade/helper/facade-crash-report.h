/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_CRASH_REPORT_H
#define FACADE_CRASH_REPORT_H

namespace ns3
{
namespace facade
{

/**
 * @ingroup facade
 * @brief On a crash, print the backtrace and terminate the process by the signal.
 *
 * For SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT. Previous handlers are replaced: one that
 * allocates memory or runs destructors hangs if the crash is in malloc().
 */
void ReportCrashes();

} // namespace facade
} // namespace ns3

#endif /* FACADE_CRASH_REPORT_H */
