import { describe, expect, test } from "bun:test";
import { cpuMs } from "../../../base/cpu-time.sample.ts";
import type { JsonObject } from "../../../base/json.ts";
import { expand, itemsOf, readState } from "./expand-items.ts";

const received = (text: string) => ({ text, body: JSON.parse(text) as JsonObject });
const turn = (input: unknown[], output: unknown[]) => ({
  input: JSON.stringify(input),
  answer: JSON.stringify({ id: "resp_1", output, usage: { input_tokens: 1 } }),
});
const NOTHING = { turns: [], items: new Map<string, string>() };

describe("readState", () => {
  test("store defaults to true, also for null, and background is on only if it is true", () => {
    expect(readState({})).toEqual({ keep: true, background: false, previous: undefined, references: [] });
    expect(readState({ store: null, background: null, previous_response_id: null })).toMatchObject({ keep: true });
    expect(readState({ store: false, background: true, previous_response_id: "resp_1" })).toMatchObject({
      keep: false,
      background: true,
      previous: "resp_1",
    });
  });

  test("R13: a reference may lack a type, and a message with an id is not a reference", () => {
    const input = [
      { type: "item_reference", id: "rs_1" },
      { id: "msg_1" },
      { type: null, id: "msg_2" },
      { role: "user", content: "Hi", id: "msg_3" },
      { type: "reasoning", id: "rs_2", summary: [] },
      { type: "item_reference" },
      "text",
      7,
    ];
    expect(readState({ input }).references).toEqual(["rs_1", "msg_1", "msg_2"]);
    expect(readState({ input: "item_reference" }).references).toEqual([]);
  });
});

describe("expand", () => {
  test("a request without references keeps its bytes, and its own input is returned as a list", () => {
    const list = received('{"model":"m", "input": [ {"role":"user","content":"Hi","n":1.50} ] }');
    expect(expand(list, NOTHING)).toEqual({ request: list, own: '[ {"role":"user","content":"Hi","n":1.50} ]' });
    const text = received('{"input":"Grüß \\"dich\\"","model":"m"}');
    const { request, own } = expand(text, NOTHING);
    expect(request).toBe(text);
    expect(JSON.parse(own)).toEqual([{ type: "message", role: "user", content: 'Grüß "dich"' }]);
  });

  test("the history comes first, then the request's own items, and settings stay", () => {
    const request = received(
      '{"model":"m","previous_response_id":"resp_1","input":"And now?","seed":12345678901234567890}',
    );
    const turns = [
      turn([{ role: "user", content: "One" }], [{ id: "msg_1", type: "message" }]),
      turn([], [{ id: "msg_2", type: "message" }]),
    ];
    const { request: expanded, own } = expand(request, { turns, items: new Map() });
    expect(expanded.text).toContain("12345678901234567890");
    expect(JSON.parse(expanded.text)).toEqual(expanded.body);
    expect(expanded.body).toMatchObject({
      model: "m",
      previous_response_id: "resp_1",
      input: [
        { role: "user", content: "One" },
        { id: "msg_1", type: "message" },
        { id: "msg_2", type: "message" },
        { type: "message", role: "user", content: "And now?" },
      ],
    });
    expect(JSON.parse(own)).toEqual([{ type: "message", role: "user", content: "And now?" }]);
  });

  test("a request without input continues with its history alone", () => {
    for (const text of ['{"model":"m"}', '{"model":"m","input":[]}', '{"model":"m","input":null}']) {
      const turns = [turn([{ role: "user", content: "One" }], [{ id: "msg_1" }])];
      const { request, own } = expand(received(text), { turns, items: new Map() });
      expect(request.body["input"]).toEqual([{ role: "user", content: "One" }, { id: "msg_1" }]);
      expect(JSON.parse(request.text)).toEqual(request.body);
      expect(JSON.parse(own)).toEqual([]);
    }
  });

  test("R13: references are replaced with their items in place, and unknown ones are left out and noted", () => {
    const request = received(
      '{"input":[{"role":"user","content":"a"},{"type":"item_reference","id":"rs_1"},{"id":"rs_9"},{"role":"user","content":"b"}]}',
    );
    const items = new Map([["rs_1", '{"id":"rs_1","type":"reasoning","summary":[]}']]);
    const { request: expanded, own } = expand(request, { turns: [], items });
    const input = [
      { role: "user", content: "a" },
      { id: "rs_1", type: "reasoning", summary: [] },
      { role: "user", content: "b" },
    ];
    expect(expanded.body["input"]).toEqual(input);
    expect(JSON.parse(own)).toEqual(input);
    expect(expanded.adapted).toEqual([
      { path: "input[2]", action: "dropped", reason: "no item with this id is stored in this project" },
    ]);
  });

  test("earlier notes are kept", () => {
    const noted = { path: "user", action: "dropped" as const, reason: "here" };
    const request = { ...received('{"input":[{"id":"rs_9"}]}'), adapted: [noted] };
    expect(expand(request, NOTHING).request.adapted?.map(({ path }) => path)).toEqual(["user", "input[0]"]);
  });

  test("hostile: a history of 10,000 items is assembled in order within a second", () => {
    const items = Array.from({ length: 10_000 }, (_, index) => ({ role: "user", content: `item ${index} ] , "` }));
    const references = Array.from({ length: 10_000 }, (_, index) => ({ type: "item_reference", id: `rs_${index}` }));
    const request = received(JSON.stringify({ input: references }));
    const started = cpuMs();
    const { request: expanded } = expand(request, { turns: [turn(items, items)], items: new Map() });
    expect(cpuMs() - started).toBeLessThan(1_000);
    expect(expanded.body["input"]).toEqual([...items, ...items]);
    expect(expanded.adapted?.length).toBe(10_000);
  });
});

test("returns the items of an answer by id, without those that have none", () => {
  const answer = JSON.stringify({ output: [{ id: "rs_1", a: [1, 2] }, { type: "message" }, { id: "msg_1" }] });
  expect([...itemsOf(answer)]).toEqual([
    ["rs_1", '{"id":"rs_1","a":[1,2]}'],
    ["msg_1", '{"id":"msg_1"}'],
  ]);
  expect(itemsOf('{"id":"resp_1"}').size).toBe(0);
});
