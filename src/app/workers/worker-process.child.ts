/**
 * A worker that ends when its first process has ended: "late", one that learns of it after the fact; "busy", one whose only thread is
 * never free. "first" is a first process, which starts a busy worker.
 */
import { workerProcess } from "./worker-process.ts";

const role = process.argv[2];
if (role === "first") {
  const worker = Bun.spawn([process.execPath, import.meta.path, "busy"], {
    env: { ...process.env, TRIVIUM_WORKER_PARENT: String(process.pid) },
    stdout: "inherit",
    ipc: () => {},
  });
  await worker.exited;
} else {
  const worker = workerProcess(process.env);
  // Keeps the process alive, as a listening socket would.
  const alive = setInterval(() => {}, 1_000);
  const disconnected = new Promise((resolve) => process.once("disconnect", resolve));
  process.send?.("begun");
  if (role === "late") await disconnected;
  worker?.onOrphaned(() => clearInterval(alive));
  if (role === "busy") {
    console.log(process.pid);
    // Longer than the test lasts, and not for ever should it fail.
    for (const untilMs = Date.now() + 120_000; Date.now() < untilMs; );
  }
}
