import { expect, test } from "bun:test";
import { EMBEDDING_TASKS } from "./embedding-call.ts";
import { readTask } from "./task-words.ts";

test.each([
  ...EMBEDDING_TASKS.map((task) => [task, task]),
  ["RETRIEVAL_QUERY", "query"],
  ["search_document", "document"],
  ["Passage", "document"],
  ["CODE_RETRIEVAL_QUERY", "code_query"],
])("the word %s is the task %s", (word, task) => {
  expect(readTask(word, "input_type")).toBe(task as ReturnType<typeof readTask>);
  expect(readTask(word.toUpperCase(), "input_type")).toBe(task as ReturnType<typeof readTask>);
});

test("words that say nothing are none, and others are refused with those that there are", () => {
  for (const word of [undefined, "", "none", "TASK_TYPE_UNSPECIFIED"])
    expect(readTask(word, "taskType")).toBeUndefined();
  expect(() => readTask("constructor", "taskType")).toThrow(
    /taskType is "constructor"; it must be one of .*query.*passage/,
  );
});
