/**
 * Third-party libraries call the gateway's drop-in door with the vendors' own model names: a streamed response with an
 * output limit, and a tool call. The usage each library counts must match the ledger. They are installed from their
 * registries at the first run; everything else stays on this machine. Words on the command line select clients by
 * name.
 */
import { cpSync } from "node:fs";
import { dirname, join } from "node:path";
import { installPackages } from "../agents/install.ts";
import { MODELS_BY_WIRE, startClientHarness } from "../support/client-harness.ts";
import { CLIENTS, type Client, type ClientReport } from "./client.ts";

const CALL_TIMEOUT_MS = 300_000;
const scripts = new URL(".", import.meta.url).pathname;

/** How a script finds its installation: Python by its interpreter, JavaScript by its folder. */
async function commandOf({ from, packages, script }: Client): Promise<{ command: string[]; pythonCache: string }> {
  const programs = await installPackages(from, "library", packages);
  const folder = from === "pip" ? dirname(programs) : dirname(dirname(programs));
  const pythonCache = join(folder, "compiled");
  if (from === "pip") return { command: [join(programs, "python"), join(scripts, "python", script)], pythonCache };
  const copies = join(folder, "scripts");
  cpSync(join(scripts, "javascript"), copies, { recursive: true });
  return { command: ["node", join(copies, script)], pythonCache };
}

const harness = await startClientHarness("standard");
/** Broken streams are billed for what arrived, which no library counts. */
const brokenModels = Object.keys(MODELS_BY_WIRE).map((wire) => `broken/${wire}`);
/** Some raise an error for a refusal, and then have no usage. */
const uncounted = Object.keys(MODELS_BY_WIRE).flatMap((wire) => [`fails/${wire}`, `refuses/${wire}`]);
/** What a client of the Responses API must have shown, each streamed and not. */
const CASES = [
  "a tool",
  "tools in parallel",
  "thinking over turns",
  "structured output",
  "image",
  "refusal",
  "error by its kind",
].flatMap((name) => [name, `${name}, streamed`]);
const chosen = process.argv.slice(2).map((word) => word.toLowerCase());
const sums = async () =>
  [await harness.used(), await harness.used(...brokenModels), await harness.used(...uncounted)] as const;
let [passed, failed] = [0, 0];
try {
  for (const client of CLIENTS) {
    if (chosen.length > 0 && !chosen.some((word) => client.name.toLowerCase().includes(word))) continue;
    const title = `${client.name} (${client.packages[0]}) with ${client.model}`;
    const installed = await commandOf(client).catch((thrown: Error) => thrown);
    if (installed instanceof Error) {
      console.log(`FAILED  ${title}: ${installed.message}`);
      failed++;
      continue;
    }
    const [before, brokenBefore, uncountedBefore] = await sums();
    const callsBefore = (await harness.calls()).length;
    const child = Bun.spawn(installed.command, {
      env: {
        PATH: process.env["PATH"] ?? "",
        TRIVIUM_URL: harness.gateway.url,
        TRIVIUM_API_KEY: harness.gateway.key,
        TRIVIUM_MODEL: client.model,
        TRIVIUM_BROKEN_MODEL: client.broken ?? "",
        TRIVIUM_REFUSING_MODEL: client.refusing ?? "",
        TRIVIUM_FAILING_MODEL: client.failing ?? "",
        PYTHONPYCACHEPREFIX: installed.pythonCache,
        ...client.environment,
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: CALL_TIMEOUT_MS,
    });
    const [output, complaints] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    const [after, brokenAfter, uncountedAfter] = await sums();
    const calls = (await harness.calls()).slice(callsBefore);
    const streamed = calls.filter(({ stream, outcome }) => stream && outcome === "ok");
    const ledger = (field: "calls" | "failures" | "input" | "output" | "reasoning") =>
      after[field] -
      before[field] -
      (brokenAfter[field] - brokenBefore[field]) -
      (uncountedAfter[field] - uncountedBefore[field]);
    const problems: string[] = [];
    const expectThat = (holds: boolean, problem: string) => holds || problems.push(problem);
    const line = output.trim().split("\n").at(-1) ?? "";
    const report = (line.startsWith("{") ? JSON.parse(line) : {}) as Partial<ClientReport>;
    expectThat(report.text?.includes("simulator speaking") === true, `the text is ${JSON.stringify(report.text)}`);
    expectThat((report.chunks ?? 0) > 1, `the answer came in ${report.chunks} chunks`);
    expectThat(report.tools?.includes("get_weather") === true, `the tools called are ${JSON.stringify(report.tools)}`);
    expectThat(ledger("failures") === 0, `${ledger("failures")} calls failed`);
    expectThat(streamed.length > 0, "the ledger has no streamed call");
    const protocols = [...new Set(calls.map(({ dialect }) => dialect.client))].join(", ");
    expectThat(protocols === client.protocol, `the ledger has calls in ${protocols}, not in ${client.protocol}`);
    if (client.broken !== undefined) {
      expectThat(typeof report.broken === "string", "a stream that broke off was no error");
      const begun = brokenAfter.failures > brokenBefore.failures && brokenAfter.output > brokenBefore.output;
      expectThat(begun, "the ledger has no stream that broke off after some words");
      expectThat(typeof report.refused === "string", "a model that does not exist was no error");
      expectThat(ledger("reasoning") > 0, "the ledger has no thinking");
      for (const name of CASES) expectThat(report.shown?.includes(name) === true, `it did not show: ${name}`);
    }
    for (const side of ["input", "output"] as const) {
      const held = ledger(side);
      expectThat(report[side] === held, `it counts ${report[side]} tokens of ${side}, the ledger ${held}`);
    }
    const counted = `${protocols}, ${ledger("calls")} calls, ${report.input} tokens in, ${report.output} out`;
    const errors =
      client.broken === undefined
        ? ""
        : `; ${report.shown?.length} cases; cut: ${report.broken}, unknown model: ${report.refused}, 429: ${report.failed}`;
    console.log(`${problems.length === 0 ? "passed" : "FAILED"}  ${title}: ${counted}${errors}`);
    if (problems.length > 0)
      console.log([...problems, line, complaints.slice(-2000)].join("\n").replace(/^/gm, "        "));
    if (problems.length === 0) passed++;
    else failed++;
  }
} finally {
  await harness.stop();
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
