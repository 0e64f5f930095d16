import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { isPresent } from "./is-present.ts";
import { createDatabase, createTables, databaseUrl, tablesOfRun } from "./postgres-tables.ts";
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

/** A separate database for each test, on a server where the user may create them. */
function postgresDatabases(serverUrl: string): TestDatabases {
  const made: string[] = [];
  const keep = (name: string): string => {
    made.push(name);
    return name;
  };
  const urlOf = (name: string) => databaseUrl(serverUrl, name);
  const tables = async (): Promise<string> => tablesOfRun() ?? keep(await createTables(serverUrl));
  let template: Promise<string> | undefined;
  return {
    engine: "postgres",
    fresh: async () => urlOf(keep(await createDatabase(serverUrl))),
    withTables: async () => {
      template ??= tables();
      return urlOf(keep(await createDatabase(serverUrl, await template)));
    },
    clear: async () => {
      template = undefined;
      if (made.length === 0) return;
      const server = new SQL(serverUrl, { max: 1 });
      for (const name of made.splice(0)) await server.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await server.close();
    },
  };
}

/** SQLite, and PostgreSQL if the suite has a server; otherwise `what` is reported as skipped. */
export function testDatabases(what: string): TestDatabases[] {
  const url = process.env["TRIVIUM_TEST_POSTGRES"];
  if (url !== undefined && url !== "") return [sqliteDatabases(), postgresDatabases(url)];
  isPresent(false, `${what} on PostgreSQL, because TRIVIUM_TEST_POSTGRES is not set`);
  return [sqliteDatabases()];
}
