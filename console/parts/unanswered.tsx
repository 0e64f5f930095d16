import type { Gathered } from "../api/types.ts";
import { counted } from "../format/numbers.ts";

/** The processes whose part is missing. */
export function Unanswered({ from: { unanswered, problem }, what }: { from: Gathered<unknown>; what: string }) {
  if (problem !== null)
    return (
      <p class="stale" role="status">
        Other processes could not be asked, so their {what} are missing: {problem}
      </p>
    );
  if (unanswered.length === 0) return null;
  return (
    <p class="stale" role="status">
      {counted(unanswered.length, "process").replace(/processs$/, "processes")} did not answer, so{" "}
      {unanswered.length === 1 ? "its" : "their"} {what} are missing: {unanswered.map(({ place }) => place).join(", ")}
    </p>
  );
}
