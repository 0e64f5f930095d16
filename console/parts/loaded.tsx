import type { ComponentChildren } from "preact";
import { retryWords, useRetry } from "../connection/retry.ts";
import { clockTime } from "../format/time.ts";
import { Problem, Waiting } from "./basics.tsx";
import type { Loaded as LoadedData } from "./use-data.ts";

interface LoadedProps<Data> {
  of: LoadedData<Data>;
  /** Grey rows while loading. */
  rows?: number;
  children: (data: Data) => ComponentChildren;
}

/** The states of data that all pages share: loading, failed, out of date, and there. */
export function Loaded<Data>({ of: { data, error, atMs, reload }, rows, children }: LoadedProps<Data>) {
  const seconds = useRetry(data === undefined ? undefined : error, reload);
  if (data === undefined) {
    if (error !== undefined) return <Problem error={error} retry={reload} />;
    return <Waiting {...(rows === undefined ? {} : { rows })} />;
  }
  return (
    <>
      {error !== undefined && (
        <p class="stale">
          <span role="status">
            These figures are from {atMs === undefined ? "before" : clockTime(atMs)}. They could not be updated:{" "}
            {error.message}
          </span>{" "}
          {seconds !== undefined && `${retryWords(seconds)} `}
          <button type="button" class="link" onClick={reload}>
            {seconds === undefined ? "Try again" : "Try now"}
          </button>
        </p>
      )}
      {children(data)}
    </>
  );
}
