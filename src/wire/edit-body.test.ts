import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject } from "../base/json.ts";
import { type BodyEdits, editBody } from "./edit-body.ts";

const edit = (text: string, edits: BodyEdits) => {
  const parsed = JSON.parse(text) as JsonObject;
  const asText = String(editBody({ text }, edits, parsed));
  const asBytes = String(editBody({ text, bytes: Buffer.from(text) }, edits, parsed));
  expect(asBytes).toBe(asText);
  return asText;
};

describe("H05: a request body is edited as bytes where that is safe, and as text where it is not", () => {
  test("replacing the model name leaves all other bytes unchanged, including multi-byte characters", () => {
    const text = '{ "messages":[{"content":"é ☃ \\" model"}] , "model" : "public/é" }';
    expect(edit(text, { set: { model: '"up"' } })).toBe(text.replace('"public/é"', '"up"'));
    expect(edit(text, { set: { model: '"up"', extra: "{}" } })).toBe(
      text.replace('"public/é"', '"up"').replace("{ ", '{"extra":{}, '),
    );
  });

  test("a renamed member keeps its position and value", () => {
    const text = '{"max_completion_tokens" : 400,"messages":["é"],"model":"public"}';
    expect(
      edit(text, { set: { model: '"up"', extra: "1" }, rename: { max_completion_tokens: "max_tokens", absent: "x" } }),
    ).toBe('{"extra":1,"max_tokens" : 400,"messages":["é"],"model":"up"}');
    const twice = '{"messages":["max_completion_tokens"],"max_completion_tokens":400,"model":"public"}';
    expect(edit(twice, { set: { model: '"up"' }, rename: { max_completion_tokens: "max_tokens" } })).toBe(
      '{"messages":["max_completion_tokens"],"max_tokens":400,"model":"up"}',
    );
  });

  test("S04: a key that is repeated or written with escapes is changed everywhere", () => {
    for (const text of [
      '{"model":"a","x":{"model":"kept"}}',
      '{"x":"model","model":"a"}',
      '{"model":"b","model":"a"}',
      '{"\\u006dodel":"b","model":"a"}',
      '{"x":["model"],"model":"a"}',
    ]) {
      const changed = edit(text, { set: { model: '"up"' } });
      expect(JSON.parse(changed)).toEqual({ ...(JSON.parse(text) as JsonObject), model: "up" });
      expect(changed).not.toContain('"b"');
      expect(changed).not.toContain('"a"');
    }
  });

  test("the edited text parses to the edited object, for any body and any change", () => {
    const key = fc.constantFrom("model", "messages", "provider", "a", "é");
    const value = fc.oneof(fc.string(), fc.constantFrom("model", '"model"', "\\", '\\"'), fc.jsonValue());
    fc.assert(
      fc.property(
        fc.dictionary(key, value),
        fc.constantFrom(["model"], ["new"], ["new", "model"]),
        fc.subarray(["provider", "a"]),
        fc.constantFrom({}, { messages: "renamed" }, { é: "renamed" }),
        (body, names, remove, rename: Record<string, string>) => {
          const set = Object.fromEntries(names.map((name) => [name, '"v"']));
          const changed = JSON.parse(edit(JSON.stringify(body), { set, remove, rename })) as object;
          const kept = Object.fromEntries(
            Object.entries(body)
              .filter(([name]) => !(remove as string[]).includes(name))
              .map(([name, value]) => [rename[name] ?? name, value]),
          );
          expect(changed).toEqual(
            JSON.parse(JSON.stringify({ ...kept, ...Object.fromEntries(names.map((name) => [name, "v"])) })),
          );
        },
      ),
    );
  });
});
