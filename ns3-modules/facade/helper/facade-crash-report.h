/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_CRASH_REPORT_H
#define FACADE_CRASH_REPORT_H

namespace ns3
{
namespace rdma
{

/**
 * @ingroup facade
 * @brief Have a crash print the functions it happened in, and end the process by its signal.
 *
 * Whatever handler was there before is replaced: one that allocates memory or runs destructors
 * hangs where the crash lies within malloc(). Of SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT.
 */
void ReportCrashes();

} // namespace rdma
} // namespace ns3

#endif /* FACADE_CRASH_REPORT_H */
