import { describe, expect, test } from "bun:test";
import { encodeInput } from "./list-input.ts";

interface Page {
  object: string;
  data: { id: string; type: string; content?: unknown }[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

const ITEMS = [
  { role: "user", content: "Hello" },
  { id: "fc_1", type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
  { type: "function_call_output", call_id: "call_1", output: "42" },
  { type: "message", role: "assistant", content: "It is 42." },
];
const TURNS = [{ input: JSON.stringify(ITEMS), answer: '{"output":[{"id":"msg_9"}]}' }];

const list = (query = "", turns = TURNS): Page =>
  JSON.parse(encodeInput("resp_1", turns, new URLSearchParams(query))) as Page;

describe("input items", () => {
  test("the latest first; each has its type and an id that stays the same", () => {
    const page = list();
    expect(page.data.map(({ type }) => type)).toEqual(["message", "function_call_output", "function_call", "message"]);
    expect(page.data[2]).toEqual({ ...ITEMS[1] } as never);
    expect(page.data[3]).toMatchObject({ status: "completed", content: [{ type: "input_text", text: "Hello" }] });
    expect(page.data[0]).toMatchObject({ content: [{ type: "output_text", text: "It is 42.", annotations: [] }] });
    expect(page.data[3]?.id).toMatch(/^msg_[0-9a-f]{40}$/);
    expect(list()).toEqual(page);
    expect(page).toMatchObject({
      object: "list",
      has_more: false,
      first_id: page.data[0]?.id,
      last_id: page.data[3]?.id,
    });
  });

  test("page by page, in either order, everything comes once", () => {
    for (const order of ["asc", "desc"]) {
      const ids: string[] = [];
      let page = list(`limit=1&order=${order}`);
      for (;;) {
        ids.push(...page.data.map(({ id }) => id));
        if (!page.has_more) break;
        page = list(`limit=1&order=${order}&after=${page.last_id}`);
      }
      expect(ids).toEqual(list(`order=${order}`).data.map(({ id }) => id));
    }
  });

  test("a page behind the last item is empty, and so is that of a response without input", () => {
    const last = list("order=asc").last_id;
    expect(list(`order=asc&after=${last}`)).toMatchObject({ data: [], first_id: null, last_id: null, has_more: false });
    expect(list("", [{ input: "[]", answer: "{}" }])).toMatchObject({ data: [], has_more: false });
  });

  test("hostile: what a page cannot be is refused with the parameter", () => {
    for (const [query, path] of [
      ["limit=0", "limit"],
      ["limit=101", "limit"],
      ["limit=1e1", "limit"],
      ["order=up", "order"],
      [`after=${"x".repeat(1_000)}`, "after"],
    ]) {
      expect(() => list(query)).toThrow(expect.objectContaining({ kind: "invalid_request", path }));
    }
  });

  test("hostile: 10,000 items are listed a hundred at a time", () => {
    const items = Array.from({ length: 10_000 }, (_, index) => ({ role: "user", content: `item ${index}` }));
    const page = list("limit=100", [{ input: JSON.stringify(items), answer: "{}" }]);
    expect([page.data.length, page.has_more]).toEqual([100, true]);
  });
});
