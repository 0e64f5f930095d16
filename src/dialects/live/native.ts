import { changeValue, ObjectEdit } from "../../wire/json-text.ts";
import type { LiveMarks } from "../live-dialect.ts";
import { wholeModel } from "./settings.ts";

/** What changes in the frames of a native session. */
export const native = {
  /** The model is in the first message only. */
  command(frame: string, upstreamModel: string): string {
    return changeValue(frame, ["setup"], (setup) => {
      const edit = setup.startsWith("{") ? new ObjectEdit(setup) : undefined;
      return edit?.has("model") ? edit.set("model", JSON.stringify(wholeModel(upstreamModel))).toString() : setup;
    });
  },

  /** Clients know the session by the field that the protocol has for it. Neither receipts nor models are in its messages. */
  event(frame: string, { sessionId }: LiveMarks): string {
    if (sessionId === undefined || !frame.includes("setupComplete")) return frame;
    return changeValue(frame, ["setupComplete"], (value) =>
      value.startsWith("{") ? new ObjectEdit(value).set("sessionId", JSON.stringify(sessionId)).toString() : value,
    );
  },
};
