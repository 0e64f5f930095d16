import { expect, test } from "bun:test";
import { withFallingAges } from "./cache-marks.ts";
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

test("H04: no mark of an hour follows one of five minutes, in the order of the prompt", () => {
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
