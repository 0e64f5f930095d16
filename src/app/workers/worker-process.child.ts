/** A worker that ends when its first process has ended; "late" asks for that when it has already happened. */
import { workerProcess } from "./worker-process.ts";

const worker = workerProcess(process.env);
// Keeps the process alive, as a listening socket would.
const alive = setInterval(() => {}, 1_000);
const disconnected = new Promise((resolve) => process.once("disconnect", resolve));
process.send?.("begun");
if (process.argv[2] === "late") await disconnected;
worker?.onOrphaned(() => clearInterval(alive));
