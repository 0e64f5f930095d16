import { expect, test } from "bun:test";
import { join } from "node:path";

test("H43: a gateway is killed while a provider runs its batch: it is created once, and every line has one receipt", async () => {
  const program = join(import.meta.dir, "native-batches.ts");
  const options = ["--kills", "2", "--lines", "120", "--seed", "7"];
  const child = Bun.spawn([process.execPath, program, ...options], { stdout: "pipe", stderr: "pipe" });
  const [code, said, problems] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  console.log(said.trimEnd());
  expect(problems).toBe("");
  expect(said).toContain("2 kills");
  expect(said).toContain("all is well");
  expect(code).toBe(0);
}, 240_000);
