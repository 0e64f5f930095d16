import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../api/api-error.ts";

const FIRST_SECONDS = 2;
const LONGEST_SECONDS = 60;

/** How long to wait after so many failures in a row. */
export const pauseAfter = (failures: number): number =>
  Math.min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** Math.max(0, failures - 1));

/** The gateway is there and cannot answer now. Everything else would fail again, or is noticed otherwise. */
export const mayPass = (error: Error | undefined): boolean => error instanceof ApiError && error.status === 503;

/**
 * Tries again by itself after a 503. Returns the seconds until then; undefined if it does not. The time stands still while the page
 * is hidden, so that tabs that nobody reads do not add to the load.
 */
export function useRetry(error: Error | undefined, retry: (() => void) | undefined): number | undefined {
  const failures = useRef(0);
  const latest = useRef(retry);
  latest.current = retry;
  const [seconds, setSeconds] = useState<number | undefined>(undefined);
  const isTried = retry !== undefined && mayPass(error);
  useEffect(() => {
    if (!isTried) {
      failures.current = 0;
      setSeconds(undefined);
      return;
    }
    failures.current += 1;
    let left = pauseAfter(failures.current);
    setSeconds(left);
    const timer = setInterval(() => {
      if (document.hidden) return;
      left -= 1;
      setSeconds(left);
      if (left > 0) return;
      clearInterval(timer);
      latest.current?.();
    }, 1_000);
    return () => clearInterval(timer);
  }, [error, isTried]);
  return isTried ? seconds : undefined;
}

export const retryWords = (seconds: number): string =>
  seconds > 0 ? `Trying again in ${seconds} s.` : "Trying again…";
