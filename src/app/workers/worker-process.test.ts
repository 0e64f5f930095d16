import { expect, test } from "bun:test";
import { join } from "node:path";
import { eventually } from "../../../testing/eventually.ts";
import { isGone } from "../process-name.ts";
import { WORKER_VARIABLE } from "./worker-messages.ts";

const CHILD = join(import.meta.dir, "worker-process.child.ts");

test("choices 9: a worker whose thread is busy ends when its first process is killed", async () => {
  const first = Bun.spawn([process.execPath, CHILD, "first"], {
    env: { ...process.env, [WORKER_VARIABLE]: "test" },
    stdout: "pipe",
  });
  const lines = first.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const worker = Number((await lines.read()).value);
  expect(isGone(worker)).toBe(false);
  first.kill("SIGKILL");
  await first.exited;
  try {
    await eventually("the worker ends", () => isGone(worker));
  } finally {
    if (!isGone(worker)) process.kill(worker, "SIGKILL");
  }
});

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
