/** A worker that starts slowly, and ends when its first process has ended. */
import { workerProcess } from "./worker-process.ts";

const worker = workerProcess(process.env);
// Keeps the process alive, as a listening socket would.
const alive = setInterval(() => {}, 1_000);
await Bun.sleep(Number(process.argv[2]));
worker?.onOrphaned(() => clearInterval(alive));
