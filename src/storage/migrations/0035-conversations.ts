import type { Migration } from "./migration.ts";

/**
 * Conversations are objects with items, in order. An item is encrypted like an answer (`src/answers`); a number is never used again.
 * An answer that is a turn of a conversation records which items preceded it. Answers with a model are listed, and found by it and by
 * their metadata.
 */
export const conversations: Migration = {
  version: 35,
  name: "conversations",
  statements: [
    `CREATE TABLE conversations (
      id TEXT PRIMARY KEY,
      next_number BIGINT NOT NULL,
      FOREIGN KEY (id) REFERENCES objects (id) ON DELETE CASCADE
    )`,
    (engine) => `CREATE TABLE conversation_items (
      conversation_id TEXT NOT NULL,
      number BIGINT NOT NULL,
      item_id TEXT NOT NULL,
      length BIGINT NOT NULL,
      content ${engine === "postgres" ? "BYTEA" : "BLOB"} NOT NULL,
      PRIMARY KEY (conversation_id, number),
      FOREIGN KEY (conversation_id) REFERENCES conversations (id) ON DELETE CASCADE
    )`,
    "CREATE INDEX conversation_items_by_id ON conversation_items (conversation_id, item_id)",
    "ALTER TABLE answers ADD COLUMN conversation_id TEXT",
    "ALTER TABLE answers ADD COLUMN conversation_end BIGINT",
    "ALTER TABLE answers ADD COLUMN model TEXT",
    "CREATE INDEX answers_listed ON answers (project, created_at_ms, id) WHERE model IS NOT NULL",
    `CREATE TABLE answer_metadata (
      answer_id TEXT NOT NULL,
      project TEXT NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (answer_id, project, name),
      FOREIGN KEY (answer_id, project) REFERENCES answers (id, project) ON DELETE CASCADE
    )`,
  ],
};
