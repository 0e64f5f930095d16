import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { cpuMicrosecondsPer, inTurns, medianRatio, summary } from "../turns.ts";

export const limits: Scenario = {
  id: "limits",
  title: "a key with limits and budgets at three levels beside one without",
  run: async function* (bench) {
    yield await measureCalls(bench, "CPU per request with limits, 1 KB body", "small", 1_500);
    yield await measureCalls(bench, "CPU per request with limits, 300 KB body", "large", 100);
  },
};

async function measureCalls(bench: Bench, measure: string, body: "small" | "large", requests: number): Promise<Row> {
  const call = (url: string, count = requests) =>
    bench.load.unary({ url, body, requests: count, atOnce: body === "small" ? 16 : 8 });
  const rounds = await inTurns(bench, {
    names: ["gateway", "limited"],
    rounds: bench.quick ? 4 : 40,
    processes: bench.quick ? 1 : 8,
    warmUp: ({ url }) => call(url, requests * (bench.quick ? 2 : body === "small" ? 130 : 40)),
    measure: (child) => cpuMicrosecondsPer(child, () => call(child.url).then(() => requests)),
  });
  const target = atMost(1.05, "× no limits", medianRatio(rounds, "limited", "gateway"));
  return { measure, unit: "µs", ...summary(rounds), target };
}
