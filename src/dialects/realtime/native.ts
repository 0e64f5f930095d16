import { changeValue, findValue, ObjectEdit } from "../../wire/json-text.ts";
import type { LiveMarks } from "../live-dialect.ts";

/** Events whose response or session the gateway marks. */
const MARKED = /"type"\s*:\s*"(?:response\.(?:created|done)|session\.(?:created|updated))"/;
/** The type is among the first members. */
const BEGINNING = 200;

/** What changes in the frames of a native session. */
export const native = {
  /** A session names its model, which must be the host's. */
  command(frame: string, upstreamModel: string): string {
    if (!frame.includes("model")) return frame;
    const name = JSON.stringify(upstreamModel);
    return editMember(frame, "session", (session) => {
      const edit = new ObjectEdit(session);
      return edit.has("model") ? edit.set("model", name).toString() : session;
    });
  },

  event(frame: string, { sessionId, receipt, model }: LiveMarks): string {
    const first =
      sessionId === undefined ? frame : new ObjectEdit(frame).set("session_id", JSON.stringify(sessionId)).toString();
    if (!MARKED.test(first.slice(0, BEGINNING)) && !MARKED.test(first)) return first;
    const named = model === undefined ? first : changeValue(first, ["session", "model"], () => JSON.stringify(model));
    if (receipt === undefined || findValue(named, ["response"]) === undefined) return named;
    const mark = JSON.stringify(receipt);
    return editMember(named, "response", (response) => {
      const edit = new ObjectEdit(response);
      const metadata = edit.get("metadata");
      const kept = metadata?.startsWith("{") ? metadata : "{}";
      return edit.set("metadata", new ObjectEdit(kept).set("trivium_receipt", mark).toString()).toString();
    });
  },
};

/** Changes a member that is an object. */
function editMember(frame: string, name: string, change: (object: string) => string): string {
  const edit = new ObjectEdit(frame);
  const value = edit.get(name);
  if (!value?.startsWith("{")) return frame;
  const changed = change(value);
  return changed === value ? frame : edit.set(name, changed).toString();
}
