import type { Migration } from "./migration.ts";

/** Through what each gateway shares its limits: those with the same name may run on one storage together. */
export const sharedLimits: Migration = {
  version: 15,
  name: "shared-limits",
  statements: ["ALTER TABLE instances ADD COLUMN shares TEXT NOT NULL DEFAULT ''"],
};
