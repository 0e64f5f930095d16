import type { AnswerKind } from "../hosts/host-answers.ts";
import { atMost, type Bench, type Row, type Scenario } from "../scenario.ts";
import { NATIVE_PAIRS, type Pair } from "../translated-pairs.ts";
import { cpuMicrosecondsPer, inTurns, summary } from "../turns.ts";

const AT_ONCE = 16;

export const answers20Kb: Scenario = {
  id: "answers-20kb",
  title: `a small request and an answer of 20 KB, not streamed, ${AT_ONCE} calls at once`,
  async *run(bench) {
    yield await measure(bench, ["chat", "chat"], "ascii");
    for (const pair of NATIVE_PAIRS) yield await measure(bench, pair, "unicode");
    yield await measure(bench, ["chat", "messages"], "unicode");
    yield await measure(bench, ["genai", "chat"], "unicode");
    await bench.upstream.answer("short");
  },
};

/** The bare proxy and nginx pass on an answer in the client's own protocol: they can do nothing else. */
async function measure(bench: Bench, pair: Pair, kind: AnswerKind): Promise<Row> {
  const [client, host] = pair;
  await bench.upstream.answer(kind);
  const call = (url: string, requests: number) => bench.load.longAnswer({ url, pair, requests, atOnce: AT_ONCE });
  const requests = 300;
  const rounds = await inTurns(bench, {
    names: client === host ? ["bare", "gateway", "nginx"] : ["bare", "gateway"],
    dialects: pair,
    rounds: bench.quick ? 6 : 20,
    processes: bench.quick ? 1 : 2,
    // Until then, a part of what is measured is the compiling of the program.
    warmUp: ({ url }) => call(url, bench.quick ? 5_000 : 12_000),
    measure: (child) => cpuMicrosecondsPer(child, () => call(child.url, requests).then(() => requests)),
  });
  const result = summary(rounds);
  const what = client === host ? client : `${client} to ${host}`;
  return {
    measure: `CPU per request, answer of 20 KB, ${what}, ${kind === "ascii" ? "ASCII" : "not all ASCII"}`,
    unit: "µs",
    ...result,
    ...(client === host ? { target: atMost(1.8, "× bare", result.ratios.gateway ?? Number.NaN) } : {}),
  };
}
