import { changeValue, ObjectEdit } from "../../wire/json-text.ts";
import type { LiveMarks } from "../live-dialect.ts";
import { modelResource } from "./model-resource.ts";

/** What changes in the frames of a native session. */
export const native = {
  /** The model is in the first message only. A name that begins otherwise than `models/` is the host's long form, and becomes the short one. */
  command(frame: string, upstreamModel: string): string {
    return changeValue(frame, ["setup", "model"], () => JSON.stringify(modelResource(upstreamModel)));
  },

  /** Clients know the session by the field that the protocol has for it. Neither receipts nor models are in its messages. */
  event(frame: string, { sessionId }: LiveMarks): string {
    if (sessionId === undefined || !frame.includes("setupComplete")) return frame;
    return changeValue(frame, ["setupComplete"], (value) =>
      value.startsWith("{") ? new ObjectEdit(value).set("sessionId", JSON.stringify(sessionId)).toString() : value,
    );
  },
};
