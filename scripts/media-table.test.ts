import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { PROVIDER_KINDS } from "../src/providers/index.ts";
import { imageRows, videoRows } from "./media-rows.ts";
import { MEDIA_FILE, withTables } from "./media-table.ts";

test("docs/reference/media-models.md has the tables that the code has: bin/bun scripts/media-table.ts --write", () => {
  const page = readFileSync(MEDIA_FILE, "utf8");
  expect(page).toBe(withTables(page));
});

test("contract 2.4: every media adapter of every provider has a row", () => {
  const shown = new Set([...imageRows(), ...videoRows()].map(({ adapter }) => adapter));
  const missing = [...PROVIDER_KINDS.values()].flatMap(({ kind, media }) =>
    [...(media?.images ?? []), ...(media?.videos ?? [])].flatMap((adapter, index) =>
      shown.has(adapter) ? [] : [`${kind} ${index}`],
    ),
  );
  expect(missing).toEqual([]);
  expect(shown.size).toBeGreaterThan(20);
});
