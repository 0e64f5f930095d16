import { availableParallelism } from "node:os";
import type { ContenderName } from "../contenders.ts";
import type { AnswerKind } from "../hosts/host-answers.ts";
import type { Child } from "../processes.ts";
import type { Bench, Row, Scenario } from "../scenario.ts";
import { CHAT_TO_MESSAGES, type Pair } from "../translated-pairs.ts";
import { cpuMicrosecondsPer, inTurns, medianRatio, type Rounds, summary } from "../turns.ts";

/** The load and the upstream are processes, too: with fewer processors, two workers have no more than one process has. */
const ENOUGH_PROCESSORS = 4;
const AT_ONCE = 128;
const STREAMS_AT_ONCE = 32;
const CHUNKS = 50;
const NATIVE: Pair = ["chat", "chat"];

interface Traffic {
  what: string;
  isLimited?: boolean;
  answer?: AnswerKind;
  calls: number;
  run(bench: Bench, url: string, calls: number): Promise<unknown>;
}

const unary = (bench: Bench, url: string, requests: number) =>
  bench.load.unary({ url, body: "small", requests, atOnce: AT_ONCE });

const TRAFFIC: readonly Traffic[] = [
  { what: "1 KB body", calls: 12_000, run: unary },
  { what: "1 KB body, limits at three levels", isLimited: true, calls: 12_000, run: unary },
  {
    what: "20 KB answers",
    calls: 6_000,
    answer: "unicode",
    run: ({ load }, url, requests) => load.longAnswer({ url, pair: NATIVE, requests, atOnce: AT_ONCE }),
  },
  {
    what: `streams of ${CHUNKS} chunks`,
    calls: 1_200,
    run: ({ load }, url, streams) => load.stream({ url, streams, atOnce: STREAMS_AT_ONCE, contentChunks: CHUNKS }),
  },
  {
    what: `streams of ${CHUNKS} chunks, chat to messages`,
    calls: 1_200,
    run: ({ load }, url, requests) =>
      load.translatedStream({ url, pair: CHAT_TO_MESSAGES, requests, atOnce: STREAMS_AT_ONCE }),
  },
];

export const workers: Scenario = {
  id: "workers",
  title: "a process for each processor beside one process",
  run: async function* (bench) {
    await bench.upstream.plan({ burst: CHUNKS, between: "turn" });
    for (const traffic of TRAFFIC) yield* measured(bench, traffic);
  },
};

/** Calls a second and CPU per call are of the same windows. */
async function* measured(bench: Bench, traffic: Traffic): AsyncGenerator<Row> {
  const { what, isLimited, answer = "short", calls, run } = traffic;
  await bench.upstream.answer(answer);
  const count = bench.quick ? calls / 4 : calls;
  const names: ContenderName[] = isLimited ? ["limited", "limitedWorkers"] : ["bare", "gateway", "workers"];
  const [one, all] = isLimited ? (["limited", "limitedWorkers"] as const) : (["gateway", "workers"] as const);
  const cpu: Rounds = new Map(names.map((name) => [name, []]));
  const nameOf = new Map<string, ContenderName>();
  for (const name of names) nameOf.set((await bench.contenders.kept(name)).url, name);
  const measure = async (child: Child) => {
    const startMs = performance.now();
    const each = await cpuMicrosecondsPer(child, () => run(bench, child.url, count).then(() => count));
    cpu.get(nameOf.get(child.url) ?? one)?.push(each);
    return (count * 1000) / (performance.now() - startMs);
  };
  const rounds = await inTurns(bench, {
    names,
    rounds: bench.quick ? 2 : 5,
    warmUp: ({ url }) => run(bench, url, count),
    measure,
  });
  const ratio = medianRatio(rounds, all, one);
  yield { measure: `calls a second, ${what}`, unit: "/s", ...summary(rounds), target: target(ratio) };
  const used = summary(cpu);
  yield { measure: `CPU per call, ${what}`, unit: "µs", ...used };
  yield {
    measure: `calls a second that this CPU allows, ${what}`,
    unit: "/s",
    values: allowed(used.values),
    ratios: {},
  };
}

/** What each could do if load and upstream had processors of their own: a process uses one, workers use all. */
function allowed(cpu: Row["values"]): Row["values"] {
  const processors = (name: string) => (name === "workers" || name === "limitedWorkers" ? availableParallelism() : 1);
  return Object.fromEntries(Object.entries(cpu).map(([name, each]) => [name, (processors(name) * 1e6) / each]));
}

function target(value: number) {
  if (availableParallelism() < ENOUGH_PROCESSORS) return { text: "× one process, on few processors", value, met: true };
  return { text: "≥ 1.5 × one process", value, met: value >= 1.5 };
}
