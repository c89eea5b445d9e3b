/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FABRICDEVICE_CHANNEL_H
#define FABRICDEVICE_CHANNEL_H

#include "ns3/channel.h"
#include "ns3/net-device.h"

#include <vector>

namespace ns3
{

namespace lossless
{
class Fabric;
}

namespace fabricdevice
{

/**
 * @ingroup fabricdevice
 * @brief A fabric as an ns-3 channel: one layer-2 network to which devices are attached.
 *
 * It only lists the devices, for code that searches a channel for neighbours (NeighborCacheHelper,
 * global routing). Frames go through the ports and switches of the fabric.
 */
class FabricChannel : public Channel
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();
    FabricChannel();
    ~FabricChannel() override;

    /// The channel of a fabric; created at the first call.
    /// @param fabric the fabric. @return its channel.
    static Ptr<FabricChannel> Of(const lossless::Fabric* fabric);
    /// Attach a device.
    /// @param device the device. @param host number of its host.
    void Add(Ptr<NetDevice> device, uint32_t host);
    /// Does a host of the fabric have a device?
    /// @param host number of the host. @return true if so.
    bool HasDevice(uint32_t host) const;

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

  protected:
    void DoDispose() override;

  private:
    const lossless::Fabric* m_fabric{nullptr}; //!< its fabric; only compared
    std::vector<Ptr<NetDevice>> m_devices;     //!< attached devices
    std::vector<bool> m_hasDevice;             //!< by host: a device is attached
};

} // namespace fabricdevice
} // namespace ns3

#endif /* FABRICDEVICE_CHANNEL_H */
