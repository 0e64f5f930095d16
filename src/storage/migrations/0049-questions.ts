import type { Migration } from "./migration.ts";

/**
 * Questions that one process asks all others, and their answers. Rows last for a second or two. Processes see by a change counter, which they
 * read anyway, that there is a question. `running_calls` is part of each heartbeat.
 */
export const questions: Migration = {
  version: 49,
  name: "questions",
  statements: [
    `CREATE TABLE questions (
      number BIGINT PRIMARY KEY,
      asker TEXT NOT NULL,
      kind TEXT NOT NULL,
      details TEXT NOT NULL,
      asked_at_ms BIGINT NOT NULL
    )`,
    `CREATE TABLE question_answers (
      question BIGINT NOT NULL,
      instance TEXT NOT NULL,
      answer TEXT NOT NULL,
      PRIMARY KEY (question, instance)
    )`,
    "INSERT INTO change_counters (name, value) VALUES ('questions', 0)",
    "ALTER TABLE instances ADD COLUMN running_calls BIGINT NOT NULL DEFAULT 0",
  ],
};
