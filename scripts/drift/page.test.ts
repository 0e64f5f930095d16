import { expect, test } from "bun:test";
import { type Fact, Facts } from "./fact.ts";
import { driftPage } from "./page.ts";

const fact = (kind: Fact["kind"], name: string, known = false): Fact => ({
  vendor: "OpenAI",
  protocol: "responses",
  kind,
  name,
  known,
});

function factsOf(...facts: readonly (Fact | [Fact, string])[]): Facts {
  const made = new Facts();
  for (const each of facts) {
    if (Array.isArray(each)) made.add(...each);
    else made.add(each);
  }
  return made;
}

const declared = (language: "TypeScript" | "Python", facts: Facts) => ({ language, facts, missing: [] });
const old = fact("item", "old_item");
const gone = fact("event", "response.gone", true);

test("decision 0098: the page lists what costs money first, and each name once with its SDKs", () => {
  const { text, open } = driftPage({
    date: "2026-11-18",
    pinned: declared("TypeScript", factsOf(old, gone)),
    newest: [
      declared("TypeScript", factsOf(fact("parameter", "dream"), old, [fact("answer", "dreamt"), "item.dreamt"])),
      declared("Python", factsOf(fact("parameter", "dream"), fact("counter", "dream_tokens"), fact("stop", "a", true))),
    ],
    versions: new Map([["OpenAI", ["1.0.0", "1.1.0", "2.0.0"]]]),
    remarks: ["A remark."],
  });
  expect(open).toBe(4);
  const lines = text.split("\n").filter((line) => /^(?:#|-|\| OpenAI|\d)/.test(line));
  expect(lines.slice(0, 13)).toEqual([
    "# Drift report, 2026-11-18",
    "| OpenAI | 1.0.0 | 1.1.0 | 2.0.0 |",
    "5 names compared: 4 unknown (3 of them new), 0 unknown and accepted.",
    "- A remark.",
    "## Usage counters",
    "- `dream_tokens`: OpenAI responses; Python, **new**",
    "## Items",
    "- `old_item`: OpenAI responses; TypeScript",
    "## Fields of responses",
    "- `dreamt`: OpenAI responses at `item.dreamt`; TypeScript, **new**",
    "## Request parameters",
    "- `dream`: OpenAI responses; TypeScript, Python, **new**",
    "## Known names that are new",
  ]);
  expect(text).toContain(
    "## Names that the newest SDKs no longer declare\n\nOpenAI responses, event: `response.gone`.",
  );
});
