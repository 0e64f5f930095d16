import { fileURLToPath } from "node:url";
import type { BundledConsole } from "../server/console.ts";

/** The name of the console inside the compiled program. */
const EMBEDDED = /^console(-\w+)?\.bundle$/;

/**
 * The console: part of the compiled program, or bundled from its source. A separate process bundles it, so that calls do not
 * wait for the bundler and its memory is freed.
 */
export async function bundledConsole(): Promise<BundledConsole> {
  const embedded = Bun.embeddedFiles.find((file) => EMBEDDED.test((file as File).name));
  if (embedded !== undefined) return JSON.parse(await embedded.text()) as BundledConsole;
  const program = fileURLToPath(new URL("../../console/bundle.ts", import.meta.url));
  const child = Bun.spawn([process.execPath, program], { env: {}, stdout: "pipe", stderr: "pipe", stdin: "ignore" });
  const [text, problems] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`failed to bundle the console: ${problems.slice(0, 2000)}`);
  return JSON.parse(text) as BundledConsole;
}
