import { useEffect, useRef, useState } from "preact/hooks";

export interface Loaded<Data> {
  data: Data | undefined;
  error: Error | undefined;
  loading: boolean;
  reload: () => void;
}

/** Loads the data of a page, and reloads it when `key` changes. The old data stays until the new data arrives. */
export function useData<Data>(key: string, load: (abort: AbortSignal) => Promise<Data>): Loaded<Data> {
  const [state, setState] = useState<{ data?: Data; error?: Error; loading: boolean }>({ loading: true });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => ({ ...before, loading: true }));
    latest.current(abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setState({ data, loading: false });
      },
      (thrown: unknown) => {
        if (abort.signal.aborted) return;
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        setState((before) => ({ ...before, error, loading: false }));
      },
    );
    return () => abort.abort();
  }, [key, turn]);
  return { data: state.data, error: state.error, loading: state.loading, reload: () => setTurn((now) => now + 1) };
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
