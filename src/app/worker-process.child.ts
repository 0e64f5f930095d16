/** A worker that takes its time to start, and ends when the process that has started it is gone. */
import { workerProcess } from "./worker-process.ts";

const worker = workerProcess(process.env);
// As anything that listens does, this keeps it alive.
const alive = setInterval(() => {}, 1_000);
await Bun.sleep(Number(process.argv[2]));
worker?.onOrphaned(() => clearInterval(alive));
