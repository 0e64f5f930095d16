import type { Migration } from "./migration.ts";

/** Which keys of its project can see a video, as for stored answers; and an index for the lists that clients read. */
export const videoSharing: Migration = {
  version: 31,
  name: "video sharing",
  statements: [
    "ALTER TABLE operations ADD COLUMN share TEXT NOT NULL DEFAULT 'project'",
    "CREATE INDEX operations_by_project ON operations (project, created_at_ms)",
  ],
};
