import { EVENTS_AROUND_CONTENT } from "../bodies.ts";
import { RESPONSES_EVENTS_AROUND } from "../responses-bodies.ts";
import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { median } from "../statistics.ts";
import type { Burst } from "../stream-plan.ts";
import { cpuMicrosecondsPer, inTurns, summary } from "../turns.ts";

const CHUNKS = 200;

export const responses: Scenario = {
  id: "responses",
  title: `${CHUNKS} chunks of the Responses dialect as fast as the upstream can, 8 streams at once`,
  run: async function* (bench) {
    yield await measureChunks(bench, "CPU per chunk of Responses, a write each", "turn", bench.quick ? 200 : 800);
    yield await measureChunks(bench, "CPU per chunk of Responses, joined writes", "nothing", bench.quick ? 400 : 2_000);
  },
};

/** Next to each round of Responses stands one of chat, so that what disturbs the machine disturbs both. */
async function measureChunks(bench: Bench, measure: string, between: Burst["between"], streams: number): Promise<Row> {
  await bench.upstream.plan({ burst: CHUNKS, between });
  const call = (url: string, dialect: "chat" | "responses", count: number) =>
    bench.load.stream({ url, dialect, streams: count, atOnce: 8, contentChunks: CHUNKS });
  const toChat: number[] = [];
  const gateway = await bench.contenders.kept("gateway");
  const rounds = await inTurns(bench, {
    names: ["bare", "gateway"],
    dialects: ["responses"],
    rounds: bench.quick ? 2 : 4,
    warmUp: async ({ url }) => {
      const count = bench.quick ? streams / 2 : streams * 3;
      await call(url, "chat", count);
      await call(url, "responses", count);
    },
    measure: async (child) => {
      const cost = (dialect: "chat" | "responses", around: number) =>
        cpuMicrosecondsPer(child, () => call(child.url, dialect, streams).then(() => streams * (CHUNKS + around)));
      const chat = await cost("chat", EVENTS_AROUND_CONTENT);
      const own = await cost("responses", RESPONSES_EVENTS_AROUND);
      if (child === gateway) toChat.push(own / chat);
      return own;
    },
  });
  return { measure, unit: "µs", ...summary(rounds), target: atMost(1.1, "× chat", median(toChat)) };
}
