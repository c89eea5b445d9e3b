/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef LOSSLESS_CONTROL_QUEUE_H
#define LOSSLESS_CONTROL_QUEUE_H

#include "ns3/lossless-frame.h"

namespace ns3
{
namespace lossless
{

/**
 * @ingroup lossless
 * @brief Queue of MAC control frames.
 */
class ControlQueue : public FrameFifo
{
  public:
    /// Put a frame before all others except those of its opcode, whose order is kept.
    /// @param frame the frame.
    void PushFirst(Frame* frame)
    {
        Frame* before = Find(frame->control->opcode);
        before ? InsertAfter(before, frame) : PushFront(frame);
    }

    /// Merge a newer frame into the last one of the same opcode.
    /// @param newer the newer one.
    /// @return the merged frame, without what agents appended to the former words; nullptr if there
    /// is no frame of this opcode.
    ControlFrame* Merge(const ControlFrame& newer)
    {
        Frame* waiting = Find(newer.opcode);
        if (!waiting)
        {
            return nullptr;
        }
        ControlFrame& state = *waiting->control;
        state.classes |= newer.classes;
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            if ((newer.classes >> cls) & 1U)
            {
                state.value[cls] = newer.value[cls];
            }
        }
        state.extraLength = 0;
        return &state;
    }

  private:
    Frame* Find(uint16_t opcode) const
    {
        Frame* last = nullptr;
        for (Frame* waiting = Head(); waiting; waiting = waiting->next)
        {
            last = waiting->control->opcode == opcode ? waiting : last;
        }
        return last;
    }
};

} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_CONTROL_QUEUE_H */
