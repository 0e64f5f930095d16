/**
 * Real coding agents do a small task through the gateway: read a file, write another. They are configured as their
 * documentation says, with the gateway's base URL, and call their vendor's model by its own name, then models of the
 * other protocols. Those that can continue a conversation do the task twice. The model is the simulator's `agent`,
 * which stops if its thinking is not returned unchanged. The usage an agent reports must match the ledger. Agents are
 * installed from their registries at the first run; everything else stays on this machine. Words on the command line
 * select agents by name.
 */
import { MODELS_BY_WIRE, startClientHarness } from "../support/client-harness.ts";
import type { Agent, Case, Tokens, Turn } from "./agent.ts";
import { aider } from "./aider.ts";
import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { continueCli } from "./continue.ts";
import { geminiCli } from "./gemini-cli.ts";
import { installAgent } from "./install.ts";
import { opencodeChat, opencodeMessages } from "./opencode.ts";
import { qwenCode } from "./qwen-code.ts";
import { Workplace } from "./workplace.ts";

const AGENTS: readonly Agent[] = [
  claudeCode("2.1.197"),
  claudeCode("2.1.327"),
  codex("0.142.0"),
  codex("0.169.0"),
  codex("0.169.0", { supportsWebSockets: true }),
  geminiCli,
  opencodeChat,
  opencodeMessages,
  qwenCode,
  aider,
  cline,
  continueCli,
];
const CONTENT = "three roads meet here\nand each of them works\n";
/** Reading, writing, and the final message. */
const FEWEST_CALLS = 3;
/** Agents that round show two digits. */
const ROUNDED = 0.05;
const READ_AT_ONCE = /^Done: .*, read in parallel\.$/;
const TALK: Turn = { prompt: "Hello, who are you?", says: /simulator speaking/ };

const harness = await startClientHarness("agent");
const { gateway } = harness;

interface Outcome {
  problems: string[];
  calls: number;
  streamed: number;
  tokens: Tokens | undefined;
  seconds: number;
  printed: string;
}

/** One agent, one model, one conversation. */
async function work(agent: Agent, program: string, model: string, { turns, whole, uncounted }: Case): Promise<Outcome> {
  const given = { model, gatewayUrl: gateway.url, key: gateway.key, options: [] };
  const place = new Workplace(agent.home({ ...given, prompt: "" }));
  const titles = "openai/gpt-4.1-nano";
  const [all, titled] = [await harness.used(), await harness.used(titles)];
  const callsBefore = (await harness.calls()).length;
  const began = performance.now();
  const problems: string[] = [];
  const expectThat = (holds: boolean, problem: string) => holds || problems.push(problem);
  let [printed, tokens, fewestCalls]: [string, Tokens | undefined, number] = ["", undefined, 0];
  for (const [at, turn] of turns.entries()) {
    const sources = [`notes${at}.txt`, ...(turn.two ? [`more${at}.txt`] : [])];
    const target = `loud${at}.txt`;
    for (const source of sources) place.write(source, CONTENT);
    for (const [name, content] of Object.entries(turn.files ?? {})) place.write(name, content);
    const [first, second] = sources.map((source) => place.path(source));
    const what = turn.two ? `files ${first} and ${second} in parallel` : `file ${first}`;
    const common = `Read the ${what} and write ${turn.two ? "their" : "its"} content in upper case to ${place.path(target)}.`;
    const options = turn.options?.((name) => place.path(name)) ?? [];
    const task = { ...given, prompt: turn.prompt ?? common, options };
    const start = (at === 0 ? undefined : agent.resume) ?? agent.arguments;
    const command = [program, ...start(task)];
    const { output, complaints, code } = await place.run(command, agent.environment(task), agent.input?.(task));
    printed = `${output.slice(-4000)}\n${complaints.slice(-4000)}`;
    const { says = turn.two ? READ_AT_ONCE : /^Done: /, prints = /(?:)/, fails = false } = turn;
    expectThat((code !== 0) === fails, `turn ${at} ended with code ${code}`);
    expectThat(prints.test(output), `turn ${at} printed nothing like ${prints}`);
    if (fails) continue;
    const words = attempt(() => agent.lastWords(output));
    expectThat(says.test(words ?? ""), `the last words of turn ${at} are ${JSON.stringify(words)}`);
    tokens = attempt(() => agent.tokens(output, (pattern) => place.inHome(pattern)));
    if (turn.prompt !== undefined) continue;
    const written = place.read(target);
    const wanted = sources.map(() => CONTENT.trim().toUpperCase()).join("\n");
    // Some agents show a line after the last one.
    expectThat(written?.trim().replaceAll(/\n+/g, "\n") === wanted, `the file holds ${JSON.stringify(written)}`);
    fewestCalls += FEWEST_CALLS;
  }
  place.remove();
  const [allAfter, titlesAfter] = [await harness.used(), await harness.used(titles)];
  const ledger = (field: "calls" | "failures" | "input" | "output") =>
    allAfter[field] - all[field] - (titlesAfter[field] - titled[field]);
  expectThat(ledger("calls") >= fewestCalls, `the ledger has ${ledger("calls")} calls`);
  const mayFail = turns.some(({ fails }) => fails);
  const made = (await harness.calls()).slice(callsBefore);
  const streamed = made.filter(({ stream }) => stream);
  const liveTurns = made.filter(({ session_id }) => session_id !== null).length;
  // After a few failures Codex continues over HTTP.
  const isLive = uncounted ? liveTurns > 0 : liveTurns === made.length;
  expectThat(agent.usesWebSockets ? isLive : liveTurns === 0, `${liveTurns} of ${made.length} calls are live turns`);
  expectThat(whole === true || streamed.length > 0, "the ledger has no streamed call");
  expectThat(mayFail || ledger("failures") === 0, `the ledger has ${ledger("failures")} failures`);
  for (const side of uncounted ? [] : (["input", "output"] as const)) {
    const [said = -1, held] = [tokens?.[side], ledger(side)];
    const near = agent.talksOnly ? Math.abs(said - held) <= held * ROUNDED : said === held;
    expectThat(near, `it counts ${said} tokens of ${side}, the ledger ${held}`);
  }
  const seconds = (performance.now() - began) / 1000;
  return { problems, calls: ledger("calls"), streamed: streamed.length, tokens, seconds, printed };
}

function attempt<T>(what: () => T): T | undefined {
  try {
    return what();
  } catch {
    return undefined;
  }
}

/** The common task, with its vendor's model and with one of each other protocol; then the agent's own cases. */
function casesOf(agent: Agent): Case[] {
  const others = Object.entries(MODELS_BY_WIRE).flatMap(([wire, model]) => (wire === agent.native ? [] : [model]));
  const turns = agent.talksOnly ? [TALK] : agent.resume ? [{}, {}] : [{}];
  const wholly = agent.talksOnly ? { whole: true } : {};
  const inParallel = agent.parallelModels ?? [agent.vendorModel, ...others];
  return [
    { name: "native", models: [agent.vendorModel], turns, ...wholly },
    { name: "translated", models: others, turns, ...wholly },
    ...(agent.talksOnly ? [] : [{ name: "tools in parallel", models: inParallel, turns: [{ two: true as const }] }]),
    ...(agent.cases ?? []),
  ];
}

const chosen = process.argv.slice(2).map((word) => word.toLowerCase());
const isChosen = ({ name, package: { version } }: Agent) =>
  chosen.length === 0 || chosen.some((word) => `${name} ${version}`.toLowerCase().includes(word));
let [passed, failed] = [0, 0];
try {
  for (const agent of AGENTS.filter(isChosen)) {
    const program = await installAgent(agent.package).catch((thrown: Error) => thrown);
    if (program instanceof Error) {
      console.log(`FAILED  ${agent.name} ${agent.package.version}: ${program.message}`);
      failed++;
      continue;
    }
    const runs = casesOf(agent).flatMap((one) => one.models.map((model) => ({ model, one })));
    for (const { model, one } of runs) {
      const { problems, calls, streamed, tokens, seconds, printed } = await work(agent, program, model, one);
      const title = `${agent.name} ${agent.package.version} with ${model} (${one.name})`;
      const counted = `${calls} calls, ${streamed} streamed, ${tokens?.input} tokens in, ${tokens?.output} out, ${seconds.toFixed(1)} s`;
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
