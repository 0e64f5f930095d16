import { expect, test } from "bun:test";
import { withFallingAges, withMostMarks } from "./cache-marks.ts";
import type { CanonCall } from "./call.ts";
import { Notes } from "./notes.ts";
import type { CacheMark, Part } from "./part.ts";

const text = (path: string, cache: CacheMark): Part & { type: "text" } => ({ type: "text", text: "long", path, cache });

function agesOf(tool: CacheMark, system: CacheMark, part: CacheMark, whole?: CacheMark) {
  const call: CanonCall = {
    dialect: "chat",
    fieldNames: { cache: "cache_control" },
    system: [text("s", system)],
    turns: [{ role: "user", parts: [text("p", part)], path: "messages[0]" }],
    tools: [{ type: "function", name: "f", path: "t", cache: tool }],
    paths: { cache: "whole" },
    extras: [],
    ...(whole === undefined ? {} : { cache: whole }),
  };
  const notes = new Notes();
  const fitted = withFallingAges(call, notes);
  const holders = [...fitted.tools, ...fitted.system, ...fitted.turns.flatMap(({ parts }) => parts), fitted];
  return {
    ages: holders.map(({ cache }) => cache?.ttl ?? (cache === undefined ? "none" : "default")),
    reported: notes.list.map(({ path }) => path),
  };
}

test("H04: no one-hour mark follows a five-minute mark, in prompt order", () => {
  const hour = { ttl: "1h" } as const;
  expect(agesOf(hour, hour, { ttl: "5m" }).reported).toEqual([]);
  expect(agesOf(hour, {}, hour, hour)).toEqual({
    ages: ["1h", "default", "default", "default"],
    reported: ["p.cache_control", "whole"],
  });
  expect(agesOf({ ttl: "5m" }, hour, {})).toEqual({
    ages: ["5m", "default", "default", "none"],
    reported: ["s.cache_control"],
  });
});

/** A call whose only turn is a tool result, with marks in it and on it. */
function resultCall(inside: readonly CacheMark[], own?: CacheMark): CanonCall {
  const content = inside.map((cache, index) => text(`r.content[${index}]`, cache));
  const result = { type: "tool-result", callId: "c", path: "r", content, ...(own ? { cache: own } : {}) } as const;
  return {
    dialect: "chat",
    fieldNames: { cache: "cache_control" },
    system: [text("s", {})],
    turns: [{ role: "user", parts: [result], path: "messages[0]" }],
    tools: [],
    paths: {},
    extras: [],
  };
}

const reportedBy = (change: (notes: Notes) => CanonCall) => {
  const notes = new Notes();
  const [part] = change(notes).turns.flatMap(({ parts }) => parts);
  const holders = part?.type === "tool-result" ? [...part.content, part] : [];
  return { marks: holders.map(({ cache }) => cache), reported: notes.list.map(({ path }) => path) };
};

test("H04: marks inside a tool result come before the mark on the result itself", () => {
  const hour = { ttl: "1h" } as const;
  const call = resultCall([hour, hour], hour);
  expect(reportedBy((notes) => withFallingAges(call, notes))).toEqual({
    marks: [{}, {}, {}],
    reported: ["r.content[0].cache_control", "r.content[1].cache_control", "r.cache_control"],
  });
  const falling = { ...resultCall([hour], { ttl: "5m" }), system: [text("s", hour)] };
  expect(reportedBy((notes) => withFallingAges(falling, notes))).toEqual({
    marks: [hour, { ttl: "5m" }],
    reported: [],
  });
});

test("H04: marks inside a tool result count, and the earliest are removed", () => {
  expect(reportedBy((notes) => withMostMarks(resultCall([{}, {}, {}], {}), 2, notes))).toEqual({
    marks: [undefined, undefined, {}, {}],
    reported: ["s.cache_control", "r.content[0].cache_control", "r.content[1].cache_control"],
  });
});

test("H04: marks inside documents and passages are ordered as well", () => {
  const hour = { ttl: "1h" } as const;
  const passage = { type: "search-result", path: "p", content: [text("p.content[0]", hour)] } as const;
  const document = {
    type: "media",
    kind: "document",
    path: "d",
    source: { type: "parts", parts: [text("d.source.content[0]", hour)] },
  } as const;
  const call = { ...resultCall([]), turns: [{ role: "user", parts: [passage, document], path: "m" }] } as const;
  const notes = new Notes();
  const [first, second] = withFallingAges(call, notes).turns[0]?.parts ?? [];
  expect(first).toMatchObject({ content: [{ cache: {} }] });
  expect(second).toMatchObject({ source: { parts: [{ cache: {} }] } });
  expect(notes.list.map(({ path }) => path)).toEqual([
    "p.content[0].cache_control",
    "d.source.content[0].cache_control",
  ]);
});

test("H04: a request for explicit marks only remains one", () => {
  const call: CanonCall = { ...resultCall([{ ttl: "5m" }]), cache: { ttl: "1h", explicit: true } };
  expect(withFallingAges(call, new Notes()).cache).toEqual({ ttl: "1h", explicit: true });
});
