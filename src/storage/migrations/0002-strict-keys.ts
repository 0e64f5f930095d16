import type { Migration } from "./migration.ts";

/** A key may demand that its calls are honoured to the letter or refused. */
export const strictKeys: Migration = {
  version: 2,
  name: "strict-keys",
  statements: ["ALTER TABLE api_keys ADD COLUMN strict INTEGER NOT NULL DEFAULT 0"],
};
