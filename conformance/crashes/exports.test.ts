import { expect, test } from "bun:test";
import { join } from "node:path";

test("choices 18: a gateway is killed while it writes an export: no receipt is missing", async () => {
  const program = join(import.meta.dir, "exports.ts");
  const options = ["--kills", "2", "--seed", "7"];
  const child = Bun.spawn([process.execPath, program, ...options], { stdout: "pipe", stderr: "pipe" });
  const [code, said, problems] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  console.log(said.trimEnd());
  expect(problems).toBe("");
  expect(code).toBe(0);
}, 180_000);
