import { expect, test } from "bun:test";
import { checkAll, checkJson } from "./answer-check.ts";
import type { CheckedText } from "./checked-text.ts";
import type { TextFinder } from "./find/text-match.ts";
import { makeGuard } from "./guard.ts";
import { GuardBlockedError } from "./guard-errors.ts";
import { GuardTally } from "./guard-tally.ts";
import type { HookAnswer } from "./text-hook.ts";

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

const foundIn = async (json: string, action: "redact" | "block" = "redact") => {
  const context = contextOf();
  const acting = { ...guard, settings: { ...guard.settings, action } };
  await checkJson([acting], json, context).catch((thrown: unknown) => {
    if (!(thrown instanceof GuardBlockedError)) throw thrown;
  });
  return context.tally.verdicts[0];
};

test("a verdict says in which texts the guard found something, five at most", async () => {
  const content = [
    { type: "text", text: "nothing" },
    { type: "text", text: "write to alice@example.com" },
  ];
  const body = JSON.stringify({ messages: [{ role: "user", content }] });
  const path = "messages[0].content[1].text";
  expect(await foundIn(body)).toMatchObject({ verdict: "redacted", count: 1, paths: [path], reason: "email" });
  expect(await foundIn(body, "block")).toMatchObject({ verdict: "blocked", paths: [path] });
  const many = Array.from({ length: 9 }, () => ({ role: "user", content: "alice@example.com" }));
  const paths = (await foundIn(JSON.stringify({ messages: many })))?.paths;
  expect(paths).toEqual([0, 1, 2, 3, 4].map((at) => `messages[${at}].content`));
  expect(await foundIn(JSON.stringify({ messages: [{ content: "nothing" }] }))).not.toHaveProperty("paths");
});

test("a path has no name that a client or a model chose, because it may be what the guard looks for", async () => {
  const secret = "alice@example.com";
  const call = { function: { name: "mail", arguments: JSON.stringify({ to: { heron: secret } }) } };
  const bodies = [
    { messages: [{ tool_calls: [call] }] },
    { metadata: { heron: secret } },
    { messages: [{ [secret]: "x" }] },
    { messages: [{ heron1: secret }] },
    { input: [{ content: [{ text: secret }] }] },
    { contents: [{ parts: [{ functionResponse: { response: { heron: secret } } }] }] },
    { [secret]: secret },
  ];
  const paths = await Promise.all(bodies.map(async (body) => (await foundIn(JSON.stringify(body)))?.paths?.join()));
  expect(paths).toEqual([
    "messages[0].tool_calls[0].function.arguments",
    "metadata",
    "messages[0]",
    "messages[0]",
    "input[0].content[0].text",
    "contents[0].parts[0].functionResponse.response",
    undefined,
  ]);
});

test("a guard that is asked outside says which texts it is about, if it knows", async () => {
  const asked = async (answer: Partial<HookAnswer>, shown: CheckedText[]) => {
    const context = contextOf();
    const hook = async () => ({ verdict: "block" as const, ...answer });
    const waits = checkAll([{ ...guard, finder: undefined, hook }], shown, context);
    await Promise.resolve(waits).catch(() => undefined);
    return context.tally.verdicts[0]?.paths;
  };
  const messages = [0, 1].map((at) => ({ ...textOf("some text"), path: `messages[${at}].content` }));
  expect(await asked({ places: [1] }, messages)).toEqual(["messages[1].content"]);
  expect(await asked({ verdict: "replace", replacements: new Map([[0, "x"]]) }, messages)).toEqual([
    "messages[0].content",
  ]);
  expect(await asked({}, messages)).toBeUndefined();
  expect(await asked({}, messages.slice(0, 1))).toEqual(["messages[0].content"]);
});
