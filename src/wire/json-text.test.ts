import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { changeElements, changeValue, findValue, ObjectEdit } from "./json-text.ts";

describe("H05: JSON text keeps its bytes around a change", () => {
  const text = '{ "10": 1, "model" :"a\\"b", "2":{"model":"inner"},\n "messages":[{"x":"}]"}, 1.50, null ],"z":-0.0 }';

  test("only the value changes; order, spacing, integer-like keys and number spelling do not", () => {
    expect(new ObjectEdit(text).set("model", '"new"').toString()).toBe(text.replace('"a\\"b"', '"new"'));
    expect(changeValue(text, ["messages", 1], (value) => `[${value}]`)).toBe(text.replace("1.50", "[1.50]"));
    expect(changeValue(text, ["messages", 0, "x"], () => "2")).toBe(text.replace('"}]"', "2"));
    expect(changeValue(text, ["messages", 9], () => "2")).toBe(text);
  });

  test("several elements of an array change in one pass; other elements and non-arrays do not", () => {
    const changes = new Map([0, 2, 9].map((index) => [index, (element: string) => `[${element}]`]));
    const changed = text.replace('{"x":"}]"}, 1.50, null', '[{"x":"}]"}], 1.50, [null]');
    expect(changeElements(text, ["messages"], changes)).toBe(changed);
    expect(changeElements(text, ["model"], changes)).toBe(text);
    expect(changeElements(text, ["absent"], changes)).toBe(text);
  });

  test("S04: repeated and escaped spellings of a key are changed too", () => {
    const twice = '{"model":"a","\\u006dodel":"b","model":"c"}';
    expect(new ObjectEdit(twice).set("model", '"ok"').toString()).toBe(
      '{"model":"ok","\\u006dodel":"ok","model":"ok"}',
    );
    expect(new ObjectEdit(twice).remove("model").toString()).toBe("{}");
    expect(new ObjectEdit(twice).get("model")).toBe('"c"');
  });

  test("adding, renaming and removing leave valid JSON", () => {
    expect(new ObjectEdit("{}").set("a", "1").set("b", "2").toString()).toBe('{"a":1,"b":2}');
    expect(new ObjectEdit('{"a":1}').set("b", "2").remove("a").toString()).toBe('{"b":2}');
    expect(new ObjectEdit('{"a": 1, "b": 2, "c": 3}').remove("b").rename("c", "d").toString()).toBe('{"a": 1, "d": 3}');
  });

  test("agrees with JSON.parse on any object and any choice of edits", () => {
    const key = fc.oneof(fc.constantFrom("a", "b", "model", "1", '"', "\\"), fc.string());
    fc.assert(
      fc.property(
        fc.dictionary(key, fc.jsonValue()),
        key,
        key,
        fc.constantFrom(undefined, 2),
        (object, changed, removed, indent) => {
          const source = JSON.stringify(object, undefined, indent);
          const edited = JSON.parse(new ObjectEdit(source).set(changed, "[7]").remove(removed).toString()) as object;
          const { [changed]: _old, ...others } = object;
          const { [removed]: _gone, ...rest } = { ...others, [changed]: [7] } as Record<string, unknown>;
          // A key that was absent is added even if it is removed as well: the caller requested both.
          const wanted = !Object.hasOwn(object, removed) && removed === changed ? { ...rest, [changed]: [7] } : rest;
          // Compared as JSON text: JSON writes negative zero as 0.
          expect(edited).toEqual(JSON.parse(JSON.stringify(wanted)) as object);
          const span = findValue(source, [changed]);
          expect(span === undefined ? undefined : JSON.parse(source.slice(span.start, span.end))).toEqual(
            Object.hasOwn(object, changed) ? JSON.parse(JSON.stringify(object[changed])) : undefined,
          );
        },
      ),
    );
  });
});
