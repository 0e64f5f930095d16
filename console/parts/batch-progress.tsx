import type { BatchItem } from "../api/types.ts";
import { percent, whole } from "../format/numbers.ts";
import { State, words } from "./basics.tsx";

const KINDS = {
  validating: "idle",
  in_progress: "warn",
  finalizing: "warn",
  cancelling: "warn",
  completed: "good",
  failed: "bad",
  expired: "bad",
  cancelled: "idle",
} as const;

export const BatchState = ({ state }: Pick<BatchItem, "state">) => <State kind={KINDS[state]}>{words(state)}</State>;

/** Whether it can be cancelled. */
export const isOpen = ({ state }: Pick<BatchItem, "state">): boolean =>
  state === "validating" || state === "in_progress";

export const BatchProgress = ({ progress: { total, done, failed } }: Pick<BatchItem, "progress">) =>
  total === 0 ? (
    <>–</>
  ) : (
    <span class="progress">
      {whole(done)} of {whole(total)} <span class="muted">({percent(done, total)})</span>
      {failed > 0 && <span class="failed"> {whole(failed)} failed</span>}
      <meter class="bar" min={0} max={total} value={done} aria-hidden="true" />
    </span>
  );
