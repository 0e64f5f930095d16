import { describe, expect, test } from "bun:test";
import { GatewayError } from "../canon/error.ts";
import { arrayItems } from "./array-items.ts";

async function itemsOf(text: string, chunkBytes = text.length, maxItemBytes = 1_000): Promise<unknown[]> {
  const bytes = Buffer.from(text);
  const content = async function* () {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  };
  const found: unknown[] = [];
  for await (const item of arrayItems(content(), "requests", maxItemBytes)) found.push(JSON.parse(item.toString()));
  return found;
}

describe("items of an array that arrives in chunks", () => {
  const value = {
    "re\\quests": [1],
    before: { requests: [2], text: '"requests": [3' },
    requests: [{ a: 'x], [\\"' }, [1, [2, "}"]], "plain, text", 4.5, null, { é: "ü\n" }],
    after: [[5], { requests: [6] }],
  };
  for (const [name, text] of [
    ["compact", JSON.stringify(value)],
    ["indented", JSON.stringify(value, null, 2)],
  ] as const) {
    test(`every chunk size gives the same items: ${name}`, async () => {
      for (let size = 1; size <= text.length; size++) expect(await itemsOf(text, size)).toEqual(value.requests);
    });
  }

  test("an empty array has no items", async () => {
    expect(await itemsOf('{"requests": [ ]}')).toEqual([]);
  });

  test.each([
    ["no object", '[{"requests": []}]'],
    ["a text", '"requests"'],
    ["an object that breaks off", '{"requests": [1, 2]'],
    ["an array that breaks off", '{"requests": [1, '],
    ["no such field", '{"request": [1]}'],
    ["another type", '{"requests": {"a": [1]}}'],
    ["the field twice", '{"requests": [1], "requests": [2]}'],
    ["something after the object", '{"requests": [1]} {'],
    ["an item that is too large", `{"requests": ["${"x".repeat(2_000)}"]}`],
    ["nothing", ""],
  ])("refuses %s", async (_name, text) => {
    expect(await itemsOf(text, 7).catch((error: unknown) => error)).toBeInstanceOf(GatewayError);
  });
});
