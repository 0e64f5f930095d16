import { expect, test } from "bun:test";
import { EMBEDDING_TASKS } from "./embedding-call.ts";
import { readEmbeddingTask } from "./read-embedding-task.ts";

test.each([
  ...EMBEDDING_TASKS.map((task) => [task, task]),
  ["RETRIEVAL_QUERY", "query"],
  ["search_document", "document"],
  ["Passage", "document"],
  ["CODE_RETRIEVAL_QUERY", "code_query"],
])("the word %s is the task %s", (word, task) => {
  expect(readEmbeddingTask(word, "input_type")).toBe(task as ReturnType<typeof readEmbeddingTask>);
  expect(readEmbeddingTask(word.toUpperCase(), "input_type")).toBe(task as ReturnType<typeof readEmbeddingTask>);
});

test("unspecified tasks return undefined, and unknown ones are rejected with the list of tasks", () => {
  for (const word of [undefined, "", "none", "TASK_TYPE_UNSPECIFIED"])
    expect(readEmbeddingTask(word, "taskType")).toBeUndefined();
  expect(() => readEmbeddingTask("constructor", "taskType")).toThrow(
    /taskType is "constructor"; it must be one of .*query.*passage/,
  );
});
