import type { JsonObject } from "../base/json.ts";
import type { EndedLine } from "../storage/tables/batch-lines.ts";

/** How a protocol writes the lines of a batch. */
export interface BatchForm {
  /** The client's name for a line, which must be unique in its batch. Undefined if it has none. */
  customId(line: JsonObject): string | undefined;
  /** What the field is called, for messages. */
  readonly idField: string;
  /** Why the whole batch is refused for this line; undefined if it is not. */
  problem(line: JsonObject, endpoint: string): string | undefined;
  /** A line of the output. */
  render(line: EndedLine): string;
  /** Lines without a result, and failed ones, are in a file of their own. */
  readonly separatesErrors: boolean;
  /** The protocol has no state for a batch that cannot run: each of its lines fails. */
  readonly failsByLine: boolean;
}

/** A line that was run and succeeded. */
/** How many lines have ended well or not since the start. */
export interface LineOutcomes {
  succeeded: number;
  failed: number;
}

export function countOutcome(outcomes: LineOutcomes, { status }: Pick<EndedLine, "status">): void {
  if (hasSucceeded({ state: "ended", status })) outcomes.succeeded++;
  else outcomes.failed++;
}

export const hasSucceeded = ({ state, status }: Pick<EndedLine, "state" | "status">): boolean =>
  state === "ended" && status !== undefined && status < 300;
