/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "cbfc-credit-serializer.h"

#include "cbfc-credit.h"

namespace ns3
{
namespace cbfc
{

NS_OBJECT_ENSURE_REGISTERED(CreditSerializer);

TypeId
CreditSerializer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::cbfc::CreditSerializer")
                            .SetParent<observe::FrameSerializer>()
                            .SetGroupName("cbfc")
                            .AddConstructor<CreditSerializer>();
    return tid;
}

bool
CreditSerializer::Serialize(const lossless::Frame& frame,
                            uint32_t sender,
                            bool /* tagged */,
                            observe::FrameBytes& bytes) const
{
    if (!frame.control || frame.control->opcode != CREDIT_OPCODE)
    {
        return false;
    }
    const lossless::ControlFrame& control = *frame.control;
    bytes.PutMacControl(control, sender);
    bytes.Put(control.value[0], 4);
    bytes.Put(control.value[1], 4);
    bytes.Append(control.extra.data(), control.extraLength);
    return true;
}

} // namespace cbfc
} // namespace ns3
