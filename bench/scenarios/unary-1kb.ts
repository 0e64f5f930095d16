import { atMost, type Scenario } from "../scenario.ts";
import { cpuMicrosecondsPer, inTurns, summary } from "../turns.ts";

export const unary1Kb: Scenario = {
  id: "unary-1kb",
  title: "a non-streamed answer, a body of 1 KB, 16 calls at once",
  run: async (bench) => {
    const call = (url: string, requests: number) => bench.load.unary({ url, body: "small", requests, atOnce: 16 });
    const requests = 1_500;
    const rounds = await inTurns(bench, {
      names: ["bare", "gateway", "nginx"],
      rounds: bench.quick ? 4 : 40,
      processes: bench.quick ? 1 : 3,
      // As long as in the scenarios beside it: until then, a part of what is measured is the compiling of the program.
      warmUp: ({ url }) => call(url, bench.quick ? 3_000 : 150_000),
      measure: (child) => cpuMicrosecondsPer(child, () => call(child.url, requests).then(() => requests)),
    });
    const result = summary(rounds);
    const target = atMost(2, "× bare", result.ratios.gateway ?? Number.NaN);
    return [{ measure: "CPU per request, 1 KB body", unit: "µs", ...result, target }];
  },
};
