/** A worker that starts slowly, and ends when its first process has ended; with `busy`, one whose only thread is never free. */
import { workerProcess } from "./worker-process.ts";

const [startMs, role] = process.argv.slice(2);
if (role === "first") {
  // A first process, which says which worker it has started.
  const worker = Bun.spawn([process.execPath, import.meta.path, "0", "busy"], {
    env: { ...process.env, TRIVIUM_WORKER_PARENT: String(process.pid) },
    stdout: "inherit",
    ipc: () => {},
  });
  await worker.exited;
} else {
  const worker = workerProcess(process.env);
  // Keeps the process alive, as a listening socket would.
  const alive = setInterval(() => {}, 1_000);
  await Bun.sleep(Number(startMs));
  worker?.onOrphaned(() => clearInterval(alive));
  if (role === "busy") {
    console.log(process.pid);
    // Longer than the test lasts, and not for ever should it fail.
    for (const untilMs = Date.now() + 120_000; Date.now() < untilMs; );
  }
}
