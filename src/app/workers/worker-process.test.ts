import { expect, test } from "bun:test";
import { join } from "node:path";
import { WORKER_VARIABLE } from "./worker-messages.ts";

const CHILD = join(import.meta.dir, "worker-process.child.ts");
const WITHIN_MS = 20_000;

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
