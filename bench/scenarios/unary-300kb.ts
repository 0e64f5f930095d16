import { atMost, type Scenario } from "../scenario.ts";
import { cpuMicrosecondsPer, inTurns, medianRatio, summary } from "../turns.ts";

export const unary300Kb: Scenario = {
  id: "unary-300kb",
  title: "an agent's request of 300 KB with tools and text that is not all ASCII, 8 calls at once",
  run: async (bench) => {
    const call = (url: string, requests: number) => bench.load.unary({ url, body: "large", requests, atOnce: 8 });
    const requests = 100;
    const rounds = await inTurns(bench, {
      names: ["bare", "gateway", "reserialising", "nginx"],
      rounds: bench.quick ? 4 : 30,
      processes: bench.quick ? 1 : 3,
      // Until then, a part of what is measured is the compiling of the program.
      warmUp: ({ url }) => call(url, bench.quick ? requests : 2_500),
      measure: (child) => cpuMicrosecondsPer(child, () => call(child.url, requests).then(() => requests)),
    });
    // A gateway has to read the body; what it need not do is write it anew, and that is the bar.
    const target = atMost(0.8, "× re-serialising", medianRatio(rounds, "gateway", "reserialising"));
    return [{ measure: "CPU per request, 300 KB body", unit: "µs", ...summary(rounds), target }];
  },
};
