import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../base/system.ts";
import { MIGRATIONS } from "./migrations/index.ts";
import { LATEST_VERSION, openCurrent, openStorage } from "./open.ts";
import { lastUpgradeCopy } from "./upgrade-copy.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-upgrade-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OLD = MIGRATIONS.slice(0, -2);
const OLD_VERSION = OLD.at(-1)?.version ?? 0;

let made = 0;
/** A database of an older program, in a folder of its own. */
async function oldDatabase(migrations = OLD): Promise<string> {
  const place = join(folder, String(++made));
  mkdirSync(place);
  const file = join(place, "trivium.db");
  await (await openStorage(`sqlite:${file}`, system.clock, undefined, { migrations })).close();
  return file;
}
const upgrade = async (file: string, migrations = MIGRATIONS) =>
  (await openStorage(`sqlite:${file}`, system.clock, undefined, { migrations })).close();
const filesBeside = (file: string) => readdirSync(join(file, "..")).filter((name) => name.includes("before"));
function versionIn(file: string): number {
  const database = new Database(file, { readonly: true });
  const row = database.query("SELECT MAX(version) AS version FROM migrations").get() as { version: number };
  database.close();
  return row.version;
}

describe("a copy is kept before the first migration of a SQLite file", () => {
  test("by one of several processes that start at once", async () => {
    const file = await oldDatabase();
    expect(lastUpgradeCopy(file)).toBeUndefined();
    await Promise.all([1, 2, 3, 4].map(() => upgrade(file)));
    expect(filesBeside(file)).toEqual([`trivium.db.before-version-${LATEST_VERSION}`]);
    expect(lastUpgradeCopy(file)).toMatchObject({ version: OLD_VERSION });
    // A start without migrations keeps it.
    await upgrade(file);
    expect(lastUpgradeCopy(file)).toMatchObject({ version: OLD_VERSION });
  });

  test("and stays the one from before the beginning if the upgrade is interrupted half-way", async () => {
    const file = await oldDatabase();
    const broken = { version: LATEST_VERSION, name: "broken", statements: ["SELECT nonsense FROM nowhere"] };
    await expect(upgrade(file, [...MIGRATIONS.slice(0, -1), broken])).rejects.toThrow();
    expect(versionIn(file)).toBe(MIGRATIONS.at(-2)?.version ?? 0);
    await upgrade(file);
    expect(lastUpgradeCopy(file)).toMatchObject({ version: OLD_VERSION });
  });

  test("the next upgrade replaces it", async () => {
    const file = await oldDatabase(MIGRATIONS.slice(0, -3));
    await upgrade(file, OLD);
    expect(filesBeside(file)).toEqual([`trivium.db.before-version-${OLD_VERSION}`]);
    await upgrade(file);
    expect(filesBeside(file)).toEqual([`trivium.db.before-version-${LATEST_VERSION}`]);
  });

  test("without a copy nothing is changed, and the error says how to go on", async () => {
    const file = await oldDatabase();
    mkdirSync(join(`${file}.before-version-${LATEST_VERSION}`, "in the way"), { recursive: true });
    await expect(upgrade(file)).rejects.toThrow(/Nothing was changed\. Free \d+ MB there, .*--without-copy/);
    expect(versionIn(file)).toBe(OLD_VERSION);
    await (await openStorage(`sqlite:${file}`, system.clock, undefined, { keepCopy: false })).close();
    expect(versionIn(file)).toBe(LATEST_VERSION);
  });

  test("none for a new database", async () => {
    const file = await oldDatabase([]);
    await upgrade(file);
    expect(filesBeside(file)).toEqual([]);
  });
});

test("openCurrent changes no table of an older or newer program, and creates tables only where there are none", async () => {
  const file = await oldDatabase();
  await expect(openCurrent(`sqlite:${file}`, system.clock, { mayCreate: true })).rejects.toThrow(
    `are at version ${OLD_VERSION}; this program needs version ${LATEST_VERSION}. Start the gateway or run`,
  );
  expect(versionIn(file)).toBe(OLD_VERSION);
  await upgrade(file);
  await (await openCurrent(`sqlite:${file}`, system.clock)).close();
  const database = new Database(file);
  database.run("INSERT INTO migrations (version, name, applied_at_ms) VALUES (900, 'x', 1)");
  database.close();
  await expect(openCurrent(`sqlite:${file}`, system.clock)).rejects.toThrow("written by a newer Trivium");

  const none = join(folder, "none.db");
  await expect(openCurrent(`sqlite:${none}`, system.clock)).rejects.toThrow("There are no tables in");
  await (await openCurrent(`sqlite:${none}`, system.clock, { mayCreate: true })).close();
  expect(versionIn(none)).toBe(LATEST_VERSION);
});
