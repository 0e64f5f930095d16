import { GatewayError } from "../../canon/error.ts";
import type { FieldNote } from "../../canon/receipt.ts";

/** A strict call is honoured to the letter or refused (H09). */
export function refuseNotes(notes: readonly FieldNote[]): void {
  const [first] = notes;
  if (first === undefined) return;
  const list = notes.map(({ path, action, reason }) => `${path} (${action}: ${reason})`).join("; ");
  const message = `Strict mode is on, and the model's provider cannot honour every field: ${list}. Leave these fields out, or turn strict mode off.`;
  throw new GatewayError("unsupported_parameter", message, { path: first.path });
}
