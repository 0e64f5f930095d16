import { expect, test } from "bun:test";
import { numberAt } from "../../base/json.ts";
import { BackgroundEvents, EventLog } from "./background-events.ts";

const numberOf = (event: object) => numberAt(event, "n");
const event = (n: number, text = "") => `event: e\ndata: ${JSON.stringify({ n, text })}\n\n`;

async function read(log: EventLog, after = -1): Promise<string> {
  let all = "";
  for await (const text of log.follow(after)) all += text;
  return all;
}

test("decision 0039: readers get the same events, early, late and from a number on; comments are not kept", async () => {
  const log = new EventLog();
  const early = read(log);
  log.push(`${event(0)}: keep-alive\n\n${event(1)}`, numberOf);
  const late = read(log, 0);
  log.push(event(2), numberOf);
  log.end();
  expect(await early).toBe(event(0) + event(1) + event(2));
  expect(await late).toBe(event(1) + event(2));
  expect(await read(log, 2)).toBe("");
  expect(log.next).toBe(3);
  expect(log.last).toEqual({ n: 2, text: "" });
});

test("decision 0039: a stream keeps a limited number of events, and a reader that falls behind ends", async () => {
  const log = new EventLog();
  const slow = log.follow(-1);
  log.push(event(0), numberOf);
  expect((await slow.next()).value).toBe(event(0));
  const large = "x".repeat(9 * 1024 * 1024);
  for (const n of [1, 2, 3]) log.push(event(n, large), numberOf);
  expect(log.characters).toBeLessThan(17 * 1024 * 1024);
  expect((await slow.next()).done).toBe(true);
  log.end();
  expect(await read(log)).toBe(event(3, large));
});

test("S09: streams belong to a project; those that have ended make room for others", () => {
  const events = new BackgroundEvents();
  const running = events.open("one", "a");
  expect(events.find("one", "a")).toBe(running);
  expect(events.find("two", "a")).toBeUndefined();
  for (let count = 0; count < 1_000; count++) events.open("one", `b${count}`).end();
  events.open("one", "last");
  expect(events.find("one", "a")).toBe(running);
  expect(events.find("one", "b0")).toBeUndefined();
  expect(events.find("one", "b999")).toBeDefined();
});
