import { EVENTS_AROUND_CONTENT } from "../bodies.ts";
import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { cpuMicrosecondsPer, inTurns, medianDifference, medianRatio, summary } from "../turns.ts";

export const telemetry: Scenario = {
  id: "telemetry",
  title: "traces and metrics over OTLP beside a gateway without",
  run: async function* (bench) {
    yield await measureCalls(bench);
    yield await measureChunks(bench);
  },
};

async function measureCalls(bench: Bench): Promise<Row> {
  const requests = 1_500;
  const call = (url: string, count = requests) => bench.load.unary({ url, body: "small", requests: count, atOnce: 16 });
  const rounds = await inTurns(bench, {
    names: ["gateway", "exporting"],
    rounds: bench.quick ? 4 : 40,
    processes: bench.quick ? 1 : 8,
    // A tenth of the calls have spans: what makes them is compiled after as many more.
    warmUp: ({ url }) => call(url, bench.quick ? 3_000 : 200_000),
    measure: (child) => cpuMicrosecondsPer(child, () => call(child.url).then(() => requests)),
  });
  const target = atMost(5, "µs more", medianDifference(rounds, "exporting", "gateway"));
  return { measure: "CPU per request with OTLP, 1 KB body", unit: "µs", ...summary(rounds), target };
}

const CHUNKS = 200;

async function measureChunks(bench: Bench): Promise<Row> {
  const streams = 100;
  await bench.upstream.plan({ burst: CHUNKS, between: "turn" });
  const call = (url: string, count = streams) =>
    bench.load.stream({ url, streams: count, atOnce: 8, contentChunks: CHUNKS });
  const rounds = await inTurns(bench, {
    names: ["gateway", "exporting"],
    rounds: bench.quick ? 4 : 40,
    processes: bench.quick ? 1 : 8,
    warmUp: ({ url }) => call(url, bench.quick ? 100 : 4_000),
    measure: (child) =>
      cpuMicrosecondsPer(child, () => call(child.url).then(() => streams * (CHUNKS + EVENTS_AROUND_CONTENT))),
  });
  const target = atMost(1.05, "× without", medianRatio(rounds, "exporting", "gateway"));
  return { measure: "CPU per chunk with OTLP, a write each", unit: "µs", ...summary(rounds), target };
}
