import { ENCODER_THREAD } from "../exports/threaded-encoder.ts";
import { READER_THREAD } from "../storage/sqlite-reader.ts";
import { loadVideoThread } from "./load-simulator.ts";
import { PARENT_WATCH_THREAD } from "./workers/parent-watch.ts";

/** The entry point of a thread in the compiled program; it is the same file for all of them. */
export function loadThread(): Promise<unknown> {
  if (process.argv.includes(READER_THREAD)) return import("../storage/sqlite-reader.thread.ts");
  if (process.argv.includes(ENCODER_THREAD)) return import("../exports/encoder.thread.ts");
  if (process.argv.includes(PARENT_WATCH_THREAD)) return import("./workers/parent-watch.thread.ts");
  return loadVideoThread();
}
