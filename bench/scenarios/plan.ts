import { atMost, type Row, type Scenario } from "../scenario.ts";

const PROGRAM = new URL("../plan-loop.ts", import.meta.url).pathname;
const MAX_MICROSECONDS = 5;

/** No contender plans anything: only the gateway's own code, in a separate process. */
export const plan: Scenario = {
  id: "plan",
  title: "planning a call with twelve offers",
  run: async ({ quick }) => {
    const child = Bun.spawn([process.execPath, PROGRAM, quick ? "50000" : "300000"], { stdout: "pipe" });
    const printed = await new Response(child.stdout).text();
    if ((await child.exited) !== 0) throw new Error("the planning program failed");
    const measured = JSON.parse(printed) as Record<string, number>;
    return Object.entries(measured).map(
      ([measure, value]): Row => ({
        measure: `plan: ${measure}`,
        unit: "µs",
        values: { gateway: value },
        ratios: {},
        target: atMost(MAX_MICROSECONDS, "µs", value),
      }),
    );
  },
};
