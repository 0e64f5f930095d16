import { READER_THREAD } from "../storage/sqlite-reader.ts";
import { loadVideoThread } from "./load-simulator.ts";

/** The entry point of a thread in the compiled program; it is the same file for all of them. */
export const loadThread = (): Promise<unknown> =>
  process.argv.includes(READER_THREAD) ? import("../storage/sqlite-reader.thread.ts") : loadVideoThread();
