import { expect, test } from "bun:test";
import { checkAll } from "./answer-check.ts";
import type { CheckedText } from "./checked-text.ts";
import type { TextFinder } from "./find/text-match.ts";
import { makeGuard } from "./guard.ts";
import { GuardTally } from "./guard-tally.ts";

const guard = makeGuard(
  {
    name: "guard",
    on: ["request"],
    use: "pii",
    action: "redact",
    onFailure: "block",
    timeoutMs: 1000,
    window: 200,
  },
  () => () => Promise.reject(new Error("nothing is asked")),
);

const textOf = (value: string): CheckedText => ({ path: "input", kind: "text", original: value, value });
const contextOf = () => ({
  tally: new GuardTally("request", ["guard"], ""),
  nowMs: () => 0,
  asker: undefined,
});

test.each([
  ["one long text", [textOf("words and more ".repeat(100_000))]],
  ["many short texts", Array.from({ length: 100_000 }, () => textOf("a word"))],
])("S25: other work proceeds while a guard searches %s", async (_name, texts) => {
  let inTurn = 0;
  let most = 0;
  let turns = 0;
  const finder: TextFinder = {
    find: ({ length }) => {
      inTurn += length;
      most = Math.max(most, inTurn);
      return [];
    },
  };
  let isDone = false;
  const turn = () => {
    turns++;
    inTurn = 0;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await checkAll([{ ...guard, finder }], texts, contextOf());
  isDone = true;
  expect(most).toBeLessThan(64 * 1024);
  expect(turns).toBeGreaterThan(20);
});

test("S25: a long text is redacted as a whole", async () => {
  const text = textOf("write to alice@example.com or so. ".repeat(10_000));
  const context = contextOf();
  await checkAll([guard], [text], context);
  expect(text.value).toBe("write to [redacted:email] or so. ".repeat(10_000));
  expect(context.tally.verdicts[0]).toMatchObject({ verdict: "redacted", count: 10_000, reason: "email" });
});
