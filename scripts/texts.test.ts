import { expect, test } from "bun:test";
import { isProse, literalsOf } from "./texts.ts";

test("literals are found in calls, templates and JSX, and not in comments, patterns or types", () => {
  const source = `
    // A comment with "a text" in it.
    type Kind = "one kind" | "another kind";
    const pattern = /["'\`] not this/;
    const half = total / 2 + "after a division" / 1;
    const message = \`The key \${name(\`inner \${1}\`)} is gone.\`;
    const shown = <p title="Shown on hover">Two words {count} more words</p>;`;
  expect(literalsOf(source, "tsx").filter(isProse)).toEqual([
    "after a division",
    "inner {}",
    "The key {} is gone.",
    "Shown on hover",
    "Two words ",
    " more words",
  ]);
});

test("statements for a database and names are no prose", () => {
  const texts = ["SELECT a FROM b WHERE c", "chat.completions", "x-api-key", "/v1/models", "Retry in a minute."];
  expect(texts.filter(isProse)).toEqual(["Retry in a minute."]);
});
