import { expect, test } from "bun:test";
import { join } from "node:path";
import { programsPresent } from "../../testing/is-present.ts";

/** A small version of `npm run written`. */
async function written(...options: string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "run.ts"), ...options], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [said, problems, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  console.log(said.trimEnd());
  expect(problems).toBe("");
  expect(said).toContain("0 surprises\n");
  expect(code).toBe(0);
}

test("choices 9: keys that are made, limited, narrowed and revoked, also on the command line, hold at once in three workers", async () => {
  await written("--workers", "3", "--rounds", "16", "--commands", "2");
});

const hasServers = programsPresent("changes at several instances", "redis-server");
test.skipIf(!hasServers)(
  "choices 9: they hold at the instance that was asked at once, and at the others soon",
  async () => {
    await written("--instances", "3", "--workers", "1", "--rounds", "8", "--elsewhere", "30000");
  },
);
