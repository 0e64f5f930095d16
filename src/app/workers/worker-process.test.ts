import { expect, test } from "bun:test";
import { join } from "node:path";
import { WORKER_VARIABLE } from "./worker-messages.ts";

const CHILD = join(import.meta.dir, "worker-process.child.ts");

test.each([
  ["that has started", ""],
  ["that is still starting", "late"],
])("choices 9: a worker %s ends when its first process is gone", async (_, when) => {
  const begun = Promise.withResolvers<void>();
  const child = Bun.spawn([process.execPath, CHILD, when], {
    env: { ...process.env, [WORKER_VARIABLE]: "test" },
    ipc: () => begun.resolve(),
    timeout: 100_000,
    killSignal: "SIGKILL",
  });
  await begun.promise;
  child.disconnect();
  expect(await child.exited).toBe(0);
});
