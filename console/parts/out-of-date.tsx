import { useEffect, useState } from "preact/hooks";
import { clockTime } from "../format/time.ts";

const OLD_MS = 60_000;
const LOOK_MS = 5_000;

interface OutOfDateProps {
  atMs: number | undefined;
  /** A failed update says so itself. */
  error: Error | undefined;
  reload: () => void;
}

/** Says since when a page that updates itself has not done so. */
export function OutOfDate({ atMs, error, reload }: OutOfDateProps) {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const turn = setInterval(() => setNowMs(Date.now()), LOOK_MS);
    return () => clearInterval(turn);
  }, []);
  if (error !== undefined || atMs === undefined || nowMs - atMs < OLD_MS) return null;
  return (
    <p class="stale" role="status">
      These figures are from {clockTime(atMs)}, because the gateway has not answered since.{" "}
      <button type="button" class="link" onClick={reload}>
        Try again
      </button>
    </p>
  );
}
