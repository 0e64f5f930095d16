import type { PlainJob } from "../load-control.ts";
import { PEERS } from "../peers.ts";
import { cpuSeconds, residentMegabytes } from "../proc.ts";
import type { Child } from "../processes.ts";
import type { Bench, Row, Scenario } from "../scenario.ts";
import { cpuMicrosecondsPer, inTurns, type Rounds, summary } from "../turns.ts";

const CHUNKS = 200;
const AT_ONCE = 8;
const WARM_UPS = 10;
const BUSY_SECONDS = 0.3;

export const peers: Scenario = {
  id: "peers",
  title: "other gateways that are installed in the folder of --peers, chat protocol, 8 calls at once",
  run: async (bench) => {
    const present = bench.contenders.present(PEERS);
    if (present.length === 0) return [];
    await bench.upstream.plan({ burst: CHUNKS, between: "turn" });
    return [
      await measureCalls(bench, "small", "CPU per request, 1 KB, all gateways", 200),
      await measureCalls(bench, "large", "CPU per request, 300 KB, all gateways", 40),
      await measureCalls(bench, "translated", "CPU per request, 300 KB, chat to messages, all gateways", 40),
      await measureCalls(bench, "stream", `CPU per stream of ${CHUNKS} chunks, all gateways`, 40),
      await measureSizes(bench),
    ];
  },
};

async function measureCalls(bench: Bench, what: PlainJob["what"], measure: string, requests: number): Promise<Row> {
  const call = ({ url, headers }: Child) => bench.load.plain({ url, headers, what, requests, atOnce: AT_ONCE });
  const rounds = await inTurns(bench, {
    // Portkey cannot tell by the model that a host speaks another protocol. The bare proxy asks one that speaks the client's.
    names: what === "translated" ? ["bare", "gateway", "litellm"] : ["bare", "gateway", ...PEERS],
    rounds: bench.quick ? 2 : 4,
    // In jobs of their own, each of which ends in time where a call takes tens of milliseconds.
    warmUp: async (child) => {
      for (let time = 0; time < (bench.quick ? 1 : WARM_UPS); time++) await call(child);
    },
    measure: (child) =>
      cpuMicrosecondsPer(child, () => untilBusy(child, () => call(child)).then((jobs) => jobs * requests)),
  });
  return { measure, unit: "µs", ...summary(rounds) };
}

/** The kernel counts hundredths of a second: a job that some do in a few of them is repeated. Resolves with how often it was done. */
async function untilBusy({ pids }: Child, job: () => Promise<void>): Promise<number> {
  const until = cpuSeconds(pids) + BUSY_SECONDS;
  let jobs = 0;
  do {
    await job();
    jobs += 1;
  } while (cpuSeconds(pids) < until);
  return jobs;
}

/** After the calls above. */
async function measureSizes(bench: Bench): Promise<Row> {
  const sizes: Rounds = new Map();
  for (const name of bench.contenders.present(["bare", "gateway", ...PEERS])) {
    sizes.set(name, [residentMegabytes((await bench.contenders.kept(name)).pids)]);
  }
  return { measure: "resident after these calls, all gateways", unit: "MB", ...summary(sizes) };
}
