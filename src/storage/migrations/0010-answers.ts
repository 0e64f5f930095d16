import type { Migration } from "./migration.ts";

/**
 * Answers that later requests build on. What clients and models said is encrypted (`src/answers`). `previous_id` is the answer that
 * this one builds on: a conversation is a chain of rows, each with what its own turn brought. A row of `answer_items` leads from
 * the id of an item to the answer that it is part of. An operation of kind `answer` is one that is made in the background.
 */
export const answers: Migration = {
  version: 10,
  name: "answers",
  statements: [
    (engine) => {
      const bytes = engine === "postgres" ? "BYTEA" : "BLOB";
      return `CREATE TABLE answers (
        id TEXT NOT NULL,
        project TEXT NOT NULL,
        previous_id TEXT,
        state TEXT NOT NULL,
        input ${bytes} NOT NULL,
        answer ${bytes} NOT NULL,
        input_length BIGINT NOT NULL,
        answer_length BIGINT NOT NULL,
        size BIGINT NOT NULL,
        created_at_ms BIGINT NOT NULL,
        expires_at_ms BIGINT NOT NULL,
        PRIMARY KEY (id, project)
      )`;
    },
    "CREATE INDEX answers_by_expiry ON answers (expires_at_ms)",
    "CREATE INDEX answers_by_age ON answers (project, created_at_ms)",
    `CREATE TABLE answer_items (
      item_id TEXT NOT NULL,
      project TEXT NOT NULL,
      answer_id TEXT NOT NULL,
      PRIMARY KEY (item_id, project, answer_id),
      FOREIGN KEY (answer_id, project) REFERENCES answers (id, project) ON DELETE CASCADE
    )`,
    "CREATE INDEX answer_items_by_answer ON answer_items (answer_id, project)",
    "ALTER TABLE operations ADD COLUMN kind TEXT NOT NULL DEFAULT 'video'",
  ],
};
