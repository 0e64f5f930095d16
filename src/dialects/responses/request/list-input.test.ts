import { describe, expect, test } from "bun:test";
import type { InputTurn } from "../../answer/stored-answers.ts";
import { openPage } from "./list-input.ts";

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
const turn = (items: unknown[], answer?: string, id = "resp_1"): InputTurn => ({
  id,
  input: JSON.stringify(items),
  answer,
});
const TURNS = [turn(ITEMS)];

/** The turns in conversation order. */
function list(query = "", turns = TURNS): Page {
  const page = openPage(new URLSearchParams(query));
  for (const one of page.order === "asc" ? turns : turns.toReversed()) if (!page.take(one)) break;
  return JSON.parse(page.encode()) as Page;
}

describe("input items", () => {
  test("come latest first, with their type and a stable id", () => {
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

  test("come exactly once over all pages, in either order", () => {
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

  test("a page after the last item is empty, as is that of a response without input", () => {
    const last = list("order=asc").last_id;
    expect(list(`order=asc&after=${last}`)).toMatchObject({ data: [], first_id: null, last_id: null, has_more: false });
    expect(list("", [turn([])])).toMatchObject({ data: [], has_more: false });
  });

  test("hostile: an invalid page is rejected with the parameter", () => {
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
    const page = list("limit=100", [turn(items)]);
    expect([page.data.length, page.has_more]).toEqual([100, true]);
  });

  const OUTPUT = JSON.stringify({ output: [{ type: "message", role: "assistant", content: "out 1" }] });
  const asked = (text: string) => ({ role: "user", content: text });
  const CONVERSATION = [
    turn([asked("in 1")], OUTPUT, "resp_1"),
    turn([asked("in 2a"), asked("in 2b")], undefined, "resp_2"),
  ];
  const texts = ({ data }: Page) => data.map(({ content }) => (content as { text: string }[])[0]?.text);

  test("include the whole conversation, but not the answer itself", () => {
    expect(texts(list("order=asc", CONVERSATION))).toEqual(["in 1", "out 1", "in 2a", "in 2b"]);
    expect(texts(list("", CONVERSATION))).toEqual(["in 2b", "in 2a", "out 1", "in 1"]);
    expect(texts(list("limit=2", CONVERSATION))).toEqual(["in 2b", "in 2a"]);
    const { last_id } = list("limit=2", CONVERSATION);
    expect(texts(list(`after=${last_id}`, CONVERSATION))).toEqual(["out 1", "in 1"]);
  });

  test("have the same id in the lists of all answers created from them", () => {
    const [first] = CONVERSATION;
    const own = list("", [{ ...(first as InputTurn), answer: undefined }]);
    expect(list("", CONVERSATION).data.at(-1)?.id).toBe(own.data[0]?.id as string);
  });

  test("a full page requests no further turn", () => {
    const page = openPage(new URLSearchParams("limit=1"));
    expect(page.take(CONVERSATION[1] as InputTurn)).toBe(false);
    expect(JSON.parse(page.encode())).toMatchObject({ has_more: true });
  });

  test("hostile: a page of large items ends early and continues after them", () => {
    const large = Array.from({ length: 4 }, (_, index) => asked(`${index}${"x".repeat(3 * 1024 * 1024)}`));
    const pages: string[] = [];
    for (let query = "order=asc"; ; ) {
      const page = list(query, [turn(large)]);
      pages.push(
        texts(page)
          .map((text) => text?.[0])
          .join(""),
      );
      if (!page.has_more) break;
      query = `order=asc&after=${page.last_id}`;
    }
    expect(pages).toEqual(["01", "23"]);
    const huge = [asked("y".repeat(9 * 1024 * 1024)), asked("z")];
    expect(list("order=asc", [turn(huge)])).toMatchObject({ data: [{}], has_more: true });
  });
});
