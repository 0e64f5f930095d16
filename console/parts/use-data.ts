import { useEffect, useRef, useState } from "preact/hooks";
import { recoveries } from "../connection/connection.ts";

export interface Loaded<Data> {
  /** The answer to the question that `key` stands for; undefined until it has arrived. */
  data: Data | undefined;
  error: Error | undefined;
  loading: boolean;
  /** When the data arrived. */
  atMs: number | undefined;
  reload: () => void;
}

interface State<Data> {
  key: string;
  data?: Data;
  atMs?: number;
  error?: Error;
  loading: boolean;
}

/**
 * Loads the data of a page. A reload keeps what is shown, also if it fails. A change of `key` is another question, so that the
 * answer to the last one is dropped at once. What failed is loaded again when the gateway answers again.
 */
export function useData<Data>(key: string, load: (abort: AbortSignal) => Promise<Data>): Loaded<Data> {
  const [state, setState] = useState<State<Data>>({ key, loading: true });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const recovered = recoveries.value;
  useEffect(() => {
    if (recovered > 0 && state.error !== undefined) setTurn((now) => now + 1);
  }, [recovered]);
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => (before.key === key ? { ...before, loading: true } : { key, loading: true }));
    latest.current(abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setState({ key, data, atMs: Date.now(), loading: false });
      },
      (thrown: unknown) => {
        if (abort.signal.aborted) return;
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        setState((before) => ({ ...before, error, loading: false }));
      },
    );
    return () => abort.abort();
  }, [key, turn]);
  const shown: State<Data> = state.key === key ? state : { key, loading: true };
  return {
    data: shown.data,
    error: shown.error,
    loading: shown.loading,
    atMs: shown.atMs,
    reload: () => setTurn((now) => now + 1),
  };
}

/** Calls `work` at most once every `everyMs` milliseconds. */
export function useThrottled(work: () => void, everyMs: number): () => void {
  const latest = useRef(work);
  latest.current = work;
  const waiting = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(waiting.current), []);
  return () => {
    waiting.current ??= setTimeout(() => {
      waiting.current = undefined;
      latest.current();
    }, everyMs);
  };
}
