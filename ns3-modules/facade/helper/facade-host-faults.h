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
}

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
/**
 * @ingroup facade
 * @brief Make a host's NIC pause its switch continually.
 *
 * @param fabric its network.
 * @param host its number.
 * @param cls class.
 * @param start ps.
 * @param stop ps; -1: never.
 */
void SchedulePauseStorm(lossless::Fabric& fabric,
                        uint32_t host,
                        uint8_t cls,
                        int64_t start,
                        int64_t stop);

} // namespace facade
} // namespace ns3

#endif /* FACADE_HOST_FAULTS_H */
