/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FACADE_HOST_FAULTS_H
#define FACADE_HOST_FAULTS_H

#include <cstdint>

namespace ns3
{
namespace lossless
{
class Fabric;
class Port;
} // namespace lossless

namespace facade
{

/**
 * @ingroup facade
 * @brief Make a host a slow receiver from a given time on.
 *
 * @param fabric its network.
 * @param host its number.
 * @param rate rate at which it drains data, in bit/s; 0: line rate.
 * @param start ps.
 */
void ScheduleReceiveRate(lossless::Fabric& fabric, uint32_t host, uint64_t rate, int64_t start);

/// Control frames that a faulty port sends whatever its node holds. Times in ps.
struct Storm
{
    uint8_t cls;         //!< class
    int64_t start;       //!< when it begins
    int64_t stop;        //!< when it ends; -1: never
    int64_t on{0};       //!< length of a pause, after which it is over for `off`; 0: one pause
    int64_t off{0};      //!< between two pauses
    bool resumes{false}; //!< it sends one RESUME every `on`
};

/**
 * @ingroup facade
 * @brief Make a port pause or resume its peer without reason.
 *
 * @param port the port.
 * @param storm when it does so.
 */
void ScheduleStorm(lossless::Port& port, const Storm& storm);

} // namespace facade
} // namespace ns3

#endif /* FACADE_HOST_FAULTS_H */
