/**
 * Real coding agents do a small task through the gateway: read a file, write another. They are set up as their own
 * documents say, with the gateway's base URL, and call their vendor's model by its own name; then models of the other wires.
 * The model is the simulator's `agent`, which refuses to go on where its thinking did not come back as it left. What an agent
 * says that it used must be what the ledger holds. Agents are installed from their registries at the first run; all else
 * stays on this machine. Words on the command line choose agents by their names.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { MODELS_BY_WIRE, startClientHarness } from "../support/client-harness.ts";
import type { Agent, Tokens } from "./agent.ts";
import { aider } from "./aider.ts";
import { claudeCode } from "./claude-code.ts";
import { geminiCli } from "./gemini-cli.ts";
import { installAgent } from "./install.ts";
import { opencodeChat, opencodeMessages } from "./opencode.ts";
import { qwenCode } from "./qwen-code.ts";

const AGENTS: readonly Agent[] = [
  claudeCode("2.1.197"),
  claudeCode("2.1.325"),
  geminiCli,
  opencodeChat,
  opencodeMessages,
  qwenCode,
  aider,
];
const WORK_TIMEOUT_MS = 120_000;
const CONTENT = "three roads meet here\nand each of them works\n";
/** Reading, writing, and the last word. */
const FEWEST_CALLS = 3;
/** Agents that round show two digits. */
const ROUNDED = 0.05;

const harness = await startClientHarness("agent");
const { gateway } = harness;

interface Outcome {
  problems: string[];
  calls: number;
  tokens: Tokens | undefined;
  seconds: number;
  printed: string;
}

/** One agent, one model, in a folder and with a home of its own; nothing of this machine's environment reaches it. */
async function work(agent: Agent, program: string, model: string): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "trivium-agent-work-"));
  const [home, work] = [join(folder, "home"), join(folder, "work")];
  for (const path of [home, work]) mkdirSync(path);
  const [source, target] = [join(work, "notes.txt"), join(work, "loud.txt")];
  writeFileSync(source, CONTENT);
  const prompt = agent.talksOnly
    ? "Hello, who are you?"
    : `Read the file ${source} and write its content in upper case to ${target}.`;
  const task = { prompt, model, gatewayUrl: gateway.url, key: gateway.key };
  for (const [name, content] of Object.entries(agent.home(task))) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), JSON.stringify(content));
  }
  const titles = "openai/gpt-4.1-nano";
  const [all, titled] = [await harness.used(), await harness.used(titles)];
  const began = performance.now();
  const child = Bun.spawn([program, ...agent.arguments(task)], {
    cwd: work,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: home,
      TMPDIR: folder,
      TERM: "xterm-256color",
      ...agent.environment(task),
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    // A process group of its own, so that what the agent has started ends with it.
    detached: true,
  });
  const tooLate = setTimeout(() => process.kill(-child.pid, "SIGKILL"), WORK_TIMEOUT_MS);
  const [output, complaints, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  clearTimeout(tooLate);
  const [allAfter, titlesAfter] = [await harness.used(), await harness.used(titles)];
  const ledger = (field: "calls" | "failures" | "input" | "output") =>
    allAfter[field] - all[field] - (titlesAfter[field] - titled[field]);
  const problems: string[] = [];
  const expectThat = (holds: boolean, problem: string) => holds || problems.push(problem);
  const attempt = <T>(what: () => T): T | undefined => {
    try {
      return what();
    } catch {
      return undefined;
    }
  };
  expectThat(code === 0, `it ended with code ${code}`);
  const words = attempt(() => agent.lastWords(output));
  if (agent.talksOnly) {
    expectThat(words?.includes("simulator speaking") === true, `its last words are ${JSON.stringify(words)}`);
  } else {
    const written = attempt(() => readFileSync(target, "utf8"));
    expectThat(written?.trim() === CONTENT.trim().toUpperCase(), `the file holds ${JSON.stringify(written)}`);
    expectThat(words?.startsWith("Done: ") === true, `its last words are ${JSON.stringify(words)}`);
    expectThat(ledger("calls") >= FEWEST_CALLS, `the ledger has ${ledger("calls")} calls`);
  }
  expectThat(ledger("failures") === 0, `the ledger has ${ledger("failures")} failures`);
  const tokens = attempt(() => agent.tokens(output));
  for (const side of ["input", "output"] as const) {
    const [said = -1, held] = [tokens?.[side], ledger(side)];
    const near = agent.talksOnly ? Math.abs(said - held) <= held * ROUNDED : said === held;
    expectThat(near, `it counts ${said} tokens of ${side}, the ledger ${held}`);
  }
  rmSync(folder, { recursive: true, force: true });
  const seconds = (performance.now() - began) / 1000;
  const printed = `${output.slice(-4000)}\n${complaints.slice(-4000)}`;
  return { problems, calls: ledger("calls"), tokens, seconds, printed };
}

const chosen = process.argv.slice(2).map((word) => word.toLowerCase());
const isChosen = ({ name, package: { version } }: Agent) =>
  chosen.length === 0 || chosen.some((word) => `${name} ${version}`.toLowerCase().includes(word));
let [passed, failed] = [0, 0];
try {
  for (const agent of AGENTS.filter(isChosen)) {
    const program = await installAgent(agent.package);
    const others = Object.entries(MODELS_BY_WIRE).flatMap(([wire, model]) => (wire === agent.native ? [] : [model]));
    for (const model of [agent.vendorModel, ...others]) {
      const { problems, calls, tokens, seconds, printed } = await work(agent, program, model);
      const title = `${agent.name} ${agent.package.version} with ${model} (${model === agent.vendorModel ? "native" : "translated"})`;
      const counted = `${calls} calls, ${tokens?.input} tokens in, ${tokens?.output} out, ${seconds.toFixed(1)} s`;
      console.log(`${problems.length === 0 ? "passed" : "FAILED"}  ${title}: ${counted}`);
      if (problems.length > 0) console.log([...problems, printed].join("\n").replace(/^/gm, "        "));
      if (problems.length === 0) passed++;
      else failed++;
    }
  }
} finally {
  await harness.stop();
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
