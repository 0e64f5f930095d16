import { useEffect } from "preact/hooks";
import { hasEnded } from "../api/client.ts";
import { listenTo } from "../state/events.ts";
import { type Loaded, useData, useThrottled } from "./use-data.ts";

/** Loads data again and again while the page is visible, and soon after calls begin and end. What is shown stays until then. */
export function usePolled<Data>(
  key: string,
  everyMs: number,
  load: (abort: AbortSignal) => Promise<Data>,
): Loaded<Data> {
  const loaded = useData(key, load);
  const { reload } = loaded;
  const soon = useThrottled(reload, 500);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && !hasEnded.value) reload();
    }, everyMs);
    const stop = listenTo(({ type }) => {
      if (type === "call.begun" || type === "call.ended" || type === "lagged") soon();
    });
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [key, everyMs]);
  return loaded;
}
