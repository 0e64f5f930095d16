import { READER_THREAD } from "../storage/sqlite-reader.ts";
import { loadVideoThread } from "./load-simulator.ts";

/** What a thread of a compiled program runs, which is the same file for all of them. */
export const loadThread = (): Promise<unknown> =>
  process.argv.includes(READER_THREAD) ? import("../storage/sqlite-reader.thread.ts") : loadVideoThread();
