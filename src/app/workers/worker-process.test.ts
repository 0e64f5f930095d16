import { expect, test } from "bun:test";
import { join } from "node:path";
import { isGone } from "../process-name.ts";
import { WORKER_VARIABLE } from "./worker-messages.ts";

const CHILD = join(import.meta.dir, "worker-process.child.ts");
const WITHIN_MS = 20_000;

test("choices 9: a worker whose thread is busy ends when its first process is killed", async () => {
  const first = Bun.spawn([process.execPath, CHILD, "0", "first"], {
    env: { ...process.env, [WORKER_VARIABLE]: "test" },
    stdout: "pipe",
  });
  const lines = first.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const worker = Number((await lines.read()).value);
  expect(isGone(worker)).toBe(false);
  first.kill("SIGKILL");
  await first.exited;
  for (const untilMs = Date.now() + WITHIN_MS; !isGone(worker) && Date.now() < untilMs; ) await Bun.sleep(20);
  const hasEnded = isGone(worker);
  if (!hasEnded) process.kill(worker, "SIGKILL");
  expect(hasEnded).toBe(true);
});

for (const startMs of [0, 400]) {
  test(`choices 9: a worker that takes ${startMs} ms to start ends when its first process is gone meanwhile`, async () => {
    const child = Bun.spawn([process.execPath, CHILD, String(startMs)], {
      env: { ...process.env, [WORKER_VARIABLE]: "test" },
      ipc: () => {},
    });
    await Bun.sleep(startMs / 2);
    child.disconnect();
    const ended = await Promise.race([child.exited, Bun.sleep(WITHIN_MS).then(() => "still running")]);
    child.kill("SIGKILL");
    expect(ended).toBe(0);
  });
}
