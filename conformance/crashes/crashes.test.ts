import { expect, test } from "bun:test";
import { join } from "node:path";

/** Of the gateway and of a worker, with this seed. */
const RUNS = 3;
const SEED = 12;

test("H28, choices 9: a gateway with workers and one of its workers are killed under load: no row is lost or duplicated, and nothing stays reserved", async () => {
  const program = join(import.meta.dir, "run.ts");
  const options = ["--runs", String(RUNS), "--workers", "3", "--seed", String(SEED)];
  const child = Bun.spawn([process.execPath, program, ...options], { stdout: "pipe", stderr: "pipe" });
  const [code, said, problems] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  console.log(said.trimEnd());
  expect(problems).toBe("");
  expect(said).toMatch(/[1-9]\d* kills of the gateway and [1-9]\d* of a worker/);
  expect(said).toContain("all is well");
  expect(code).toBe(0);
});
