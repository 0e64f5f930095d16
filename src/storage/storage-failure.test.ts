import { SQLiteError } from "bun:sqlite";
import { expect, test } from "bun:test";
import { SQL } from "bun";
import { system } from "../base/system.ts";
import { GatewayError } from "../canon/error.ts";
import { SqliteStorage } from "./sqlite.ts";
import { storageFailure } from "./storage-failure.ts";

test("choices 7: an error of SQLite is reported in one line with the file", async () => {
  const storage = await SqliteStorage.open(":memory:", system.clock);
  const thrown: unknown = await storage.query("SELECT * FROM absent").catch((error: unknown) => error);
  await storage.close();
  expect(thrown).toBeInstanceOf(SQLiteError);
  const failure = storageFailure(thrown, "sqlite:/srv/data/trivium.db");
  expect(failure).toBeInstanceOf(GatewayError);
  expect(failure).toMatchObject({
    message: "The storage cannot be used: the SQLite file /srv/data/trivium.db: no such table: absent.",
  });
});

test("S10: an error of PostgreSQL is reported with its URL, without user and password", () => {
  const thrown = new SQL.PostgresError("permission denied for schema public", {
    code: "ERR_POSTGRES_SERVER_ERROR",
    errno: "42501",
    severity: "ERROR",
  });
  expect(storageFailure(thrown, "postgres://me:hidden@db.example:5432/trivium?x=hidden")).toMatchObject({
    message: "The storage cannot be used: PostgreSQL at db.example:5432/trivium: permission denied for schema public.",
  });
});

test("a bug in the program is not reported as a storage failure", () => {
  const thrown = new TypeError("undefined is not a function");
  expect(storageFailure(thrown, "sqlite:x.db")).toBe(thrown);
});
