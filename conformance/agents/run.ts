/**
 * Real coding agents do a small piece of work through the gateway: read a file, write another. The model behind it is the
 * simulator's `agent`, on each wire in turn, and it refuses to go on where its thinking did not come back as it left.
 * Installs the agents from the npm registry at the first run; all else stays on this machine.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startSimulator } from "../../src/sim/simulator.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import type { Agent } from "./agent.ts";
import { claudeCode } from "./claude-code.ts";
import { geminiCli } from "./gemini-cli.ts";
import { installAgent } from "./install.ts";

const AGENTS: readonly Agent[] = [claudeCode, geminiCli];
/** Providers, one for each wire, at the addresses where the simulator plays their hosts. */
const WIRES: Readonly<Record<string, { kind: string; path: string; dialects?: string[] }>> = {
  messages: { kind: "anthropic", path: "/anthropic" },
  genai: { kind: "gemini", path: "/gemini" },
  chat: { kind: "openai-compatible", path: "/openai/v1", dialects: ["chat"] },
};
const WORK_TIMEOUT_MS = 90_000;
const CONTENT = "three roads meet here\nand each of them works\n";
/** Reading, writing, and the last word. */
const FEWEST_CALLS = 3;

const simulator = await startSimulator({ tokenDelayMs: 1 });
const gateway = await startTestGateway({
  config: {
    providers: Object.fromEntries(
      Object.entries(WIRES).map(([wire, { path, ...settings }]) => [
        wire,
        { ...settings, base_url: `${simulator.url}${path}`, api_key: "simulated" },
      ]),
    ),
    models: Object.keys(WIRES).map((wire) => ({
      id: `${wire}/agent`,
      display_name: "Simulated agent",
      context_length: 200_000,
      max_output_tokens: 64_000,
      input_modalities: ["text", "image"],
      output_modalities: ["text"],
      reasoning: true,
      offers: [{ provider: wire, model: "agent" }],
    })),
  },
});

interface Outcome {
  problems: string[];
  calls: number;
  seconds: number;
  printed: string;
}

/** One agent, one model, in a folder and with a home of its own; nothing of this machine's environment reaches it. */
async function work(agent: Agent, program: string, wire: string): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "trivium-agent-work-"));
  const [home, place] = [join(folder, "home"), join(folder, "work")];
  for (const path of [home, place]) mkdirSync(path);
  for (const [name, content] of Object.entries(agent.home)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), JSON.stringify(content));
  }
  const [source, target] = [join(place, "notes.txt"), join(place, "loud.txt")];
  writeFileSync(source, CONTENT);
  const prompt = `Read the file ${source} and write its content in upper case to ${target}.`;
  const task = { prompt, model: `${wire}/agent`, gatewayUrl: gateway.url, key: gateway.key };
  const before = simulator.stats().requests;
  const began = performance.now();
  const child = Bun.spawn([program, ...agent.arguments(task)], {
    cwd: place,
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
  const problems: string[] = [];
  const expectThat = (holds: boolean, problem: string) => holds || problems.push(problem);
  const attempt = <T>(what: () => T): T | undefined => {
    try {
      return what();
    } catch {
      return undefined;
    }
  };
  const calls = simulator.stats().requests - before;
  expectThat(code === 0, `it ended with code ${code}`);
  const written = attempt(() => readFileSync(target, "utf8"));
  expectThat(written?.trim() === CONTENT.trim().toUpperCase(), `the file holds ${JSON.stringify(written)}`);
  const words = attempt(() => agent.lastWords(output));
  expectThat(words?.startsWith("Done: ") === true, `its last words are ${JSON.stringify(words)}`);
  expectThat(calls >= FEWEST_CALLS, `the model was called ${calls} times`);
  rmSync(folder, { recursive: true, force: true });
  const seconds = (performance.now() - began) / 1000;
  return { problems, calls, seconds, printed: `${output.slice(-4000)}\n${complaints.slice(-4000)}` };
}

let [passed, failed] = [0, 0];
try {
  for (const agent of AGENTS) {
    const program = await installAgent(agent);
    for (const wire of Object.keys(WIRES)) {
      const { problems, calls, seconds, printed } = await work(agent, program, wire);
      const title = `${agent.name} ${agent.version} with ${wire}/agent (${wire === agent.native ? "native" : "translated"})`;
      console.log(`${problems.length === 0 ? "passed" : "FAILED"}  ${title}: ${calls} calls, ${seconds.toFixed(1)} s`);
      if (problems.length > 0) console.log([...problems, printed].join("\n").replace(/^/gm, "        "));
      if (problems.length === 0) passed++;
      else failed++;
    }
  }
} finally {
  await gateway.stop();
  await simulator.stop();
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
