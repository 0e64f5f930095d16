import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { citationsIn, DECISIONS, HAZARDS, headingsOf, straysIn } from "./citations.ts";

const root = new URL("..", import.meta.url).pathname;
const read = (file: string) => readFileSync(join(root, file), "utf8");

/** Folders with third-party text or without prose are skipped. */
const LEFT_OUT = new Set(["node_modules", "fixtures", "data"]);
/** Test names and comments about citations cannot be distinguished from real ones. */
const OWN = new Set(["scripts/citations.ts", "scripts/citations.test.ts"]);

const files = readdirSync(root, { withFileTypes: true })
  .filter(({ name }) => !name.startsWith(".") && !LEFT_OUT.has(name))
  .flatMap((entry) =>
    entry.isDirectory()
      ? [...new Glob("**/*.{ts,tsx,md,yaml}").scanSync(join(root, entry.name))].map((file) => join(entry.name, file))
      : [entry.name].filter((file) => /\.(?:ts|md|yaml)$/.test(file)),
  )
  .filter((file) => !OWN.has(file))
  .sort();

const pages = new Map<string, ReadonlySet<string>>();

function headingsAt(page: string): ReadonlySet<string> {
  const known = pages.get(page);
  if (known !== undefined) return known;
  const found =
    page === DECISIONS
      ? new Set(readdirSync(join(root, page)).map((file) => file.slice(0, 4)))
      : existsSync(join(root, page))
        ? headingsOf(read(page))
        : new Set<string>();
  pages.set(page, found);
  return found;
}

function deadIn(file: string, text: string): string[] {
  return [
    ...citationsIn(text).flatMap(({ line, text: citation, page, heading }) =>
      headingsAt(page).has(heading) ? [] : [`${file}:${line}: ${citation}: ${page} has no ${heading}`],
    ),
    ...straysIn(text).map(({ line, text: stray }) => {
      return `${file}:${line}: ${stray}: not a citation; CONTRIBUTING.md says how one is written`;
    }),
  ];
}

describe("what code, tests and documents cite", () => {
  test("leads to a heading of this repository", () => {
    expect(files.flatMap((file) => deadIn(file, read(file)))).toEqual([]);
  });

  test("is seen in all its spellings", () => {
    const cited = files.flatMap((file) => citationsIn(read(file)).map(({ text }) => text));
    for (const source of [/^contract/, /^choices/, /^mapping/, /^providers/, /^sdks/, /^[HS]/, /^decision /]) {
      const count = cited.filter((text) => source.test(text)).length;
      expect(`${source}: ${count > 10}`).toBe(`${source}: true`);
    }
  });

  test("is distinguished from other words", () => {
    const cited = (text: string) => citationsIn(text).map((citation) => citation.text);
    expect(cited("Contract 2.1, 2.4, 8: so (H16), decision 0017 and choices 4 and 6")).toEqual([
      "contract 2.1",
      "contract 2.4",
      "contract 8",
      "choices 4",
      "choices 6",
      "H16",
      "decision 0017",
    ]);
    expect(cited("contract 2.6 to 2.8; sdks 3.1.")).toEqual(["contract 2.6", "contract 2.8", "sdks 3.1"]);
    expect(cited("contract 2026-10-21, H264, S3, MiniMax-H3, providers, the contract door")).toEqual([]);
  });

  test("without a matching heading is reported with its file and line", () => {
    // In two parts: another test looks for hazards in names of tests.
    const unknown = `H${99}`;
    expect(deadIn("a.ts", `first\ncontract 2.99, ${unknown}\ndecision 9999`)).toEqual([
      "a.ts:2: contract 2.99: docs/reference/api.md has no 2.99",
      `a.ts:2: ${unknown}: ${HAZARDS} has no ${unknown}`,
      `a.ts:3: decision 9999: ${DECISIONS} has no 9999`,
    ]);
    for (const stray of ["contract §7", "sdk-wire 3.1", "decisions 4", "so it is (0016)", 'test("M3: x', 'id: "M3"']) {
      expect(deadIn("a.ts", stray)).toHaveLength(1);
    }
  });
});
