/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "gfc-queue-length-serializer.h"

#include "gfc-conceptual.h"

namespace ns3
{
namespace gfc
{

NS_OBJECT_ENSURE_REGISTERED(QueueLengthSerializer);

TypeId
QueueLengthSerializer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::gfc::QueueLengthSerializer")
                            .SetParent<observe::FrameSerializer>()
                            .SetGroupName("gfc")
                            .AddConstructor<QueueLengthSerializer>();
    return tid;
}

bool
QueueLengthSerializer::Serialize(const lossless::Frame& frame,
                                 uint32_t sender,
                                 bool /* tagged */,
                                 observe::FrameBytes& bytes) const
{
    if (!frame.control || frame.control->opcode != QUEUE_LENGTH_OPCODE)
    {
        return false;
    }
    const lossless::ControlFrame& control = *frame.control;
    bytes.PutMacControl(control, sender);
    for (std::size_t cls = 0; cls < lossless::N_CLASSES; ++cls)
    {
        bytes.Put((control.classes >> cls) & 1U ? control.value[cls] : 0, 4);
    }
    bytes.Append(control.extra.data(), control.extraLength);
    return true;
}

} // namespace gfc
} // namespace ns3
