import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { system } from "../src/base/system.ts";
import { openStorage } from "../src/storage/open.ts";
import { writeSqliteTables } from "./sqlite-tables.ts";

/** Where a suite finds databases of one engine. */
export interface TestDatabases {
  engine: "sqlite" | "postgres";
  /** The URL of a database that has never been opened. */
  fresh(): Promise<string>;
  /** The URL of one with every table and no row: a copy, which takes a fraction of the time that all migrations take. */
  withTables(): Promise<string>;
  /** Removes every database that was handed out. */
  clear(): Promise<void>;
}

/** Files below a folder of their own. */
export function sqliteDatabases(): TestDatabases {
  let folder: string | undefined;
  let count = 0;
  const nextFile = () => {
    folder ??= mkdtempSync(join(tmpdir(), "trivium-storage-"));
    count += 1;
    return join(folder, "made", `${count}.db`);
  };
  return {
    engine: "sqlite",
    fresh: async () => `sqlite:${nextFile()}`,
    withTables: async () => {
      const file = nextFile();
      await writeSqliteTables(file);
      return `sqlite:${file}`;
    },
    clear: async () => {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      folder = undefined;
    },
  };
}

/** A database of its own for each test, on a server where the user may create them. */
function postgresDatabases(serverUrl: string): TestDatabases {
  const made: string[] = [];
  const run = async (statement: string): Promise<void> => {
    const server = new SQL(serverUrl, { max: 1 });
    await server.unsafe(statement);
    await server.close();
  };
  const make = async (template?: string): Promise<string> => {
    const name = `trivium_test_${crypto.randomUUID().replaceAll("-", "")}`;
    await run(`CREATE DATABASE ${name}${template === undefined ? "" : ` TEMPLATE ${template}`}`);
    made.push(name);
    return name;
  };
  const urlOf = (name: string): string => {
    const url = new URL(serverUrl);
    url.pathname = `/${name}`;
    return url.href;
  };
  const makeTemplate = async () => {
    const name = await make();
    const storage = await openStorage(urlOf(name), system.clock);
    await storage.close();
    return name;
  };
  let template: Promise<string> | undefined;
  return {
    engine: "postgres",
    fresh: async () => urlOf(await make()),
    withTables: async () => {
      template ??= makeTemplate();
      return urlOf(await make(await template));
    },
    clear: async () => {
      template = undefined;
      for (const name of made.splice(0)) await run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** SQLite, and PostgreSQL where the suite has a server; `what` is printed as skipped where it has none. */
export function testDatabases(what: string): TestDatabases[] {
  const url = process.env["TRIVIUM_TEST_POSTGRES"];
  if (url !== undefined && url !== "") return [sqliteDatabases(), postgresDatabases(url)];
  console.log(`skipped: ${what} on PostgreSQL, because TRIVIUM_TEST_POSTGRES names no server`);
  return [sqliteDatabases()];
}
