import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { cpuMicrosecondsPer, inTurns, medianRatio, summary } from "../turns.ts";

export const limits: Scenario = {
  id: "limits",
  title: "a key with limits and budgets at three levels beside one without",
  run: async (bench) => [
    await measureCalls(bench, "CPU per request with limits, 1 KB body", "small", bench.quick ? 3_000 : 12_000),
    await measureCalls(bench, "CPU per request with limits, 300 KB body", "large", bench.quick ? 200 : 800),
  ],
};

async function measureCalls(bench: Bench, measure: string, body: "small" | "large", requests: number): Promise<Row> {
  const call = (url: string, count = requests) =>
    bench.load.unary({ url, body, requests: count, atOnce: body === "small" ? 16 : 8 });
  const rounds = await inTurns(bench, {
    names: ["bare", "gateway", "limited"],
    rounds: bench.quick ? 2 : 7,
    // The gateway without limits may have run in other scenarios before: both are to be as warm.
    warmUp: ({ url }) => call(url, bench.quick ? requests : requests * 5),
    measure: (child) => cpuMicrosecondsPer(child, () => call(child.url).then(() => requests)),
  });
  const target = atMost(1.05, "× no limits", medianRatio(rounds, "limited", "gateway"));
  return { measure, unit: "µs", ...summary(rounds), target };
}
