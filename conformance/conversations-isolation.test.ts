import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TEST_KEY } from "../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const SECRET = "the-lighthouse-is-blue";

let gateway: TestGateway;
const keys: Record<string, string> = {
  owner: "trv_owner_key_of_this_test_0001",
  colleague: "trv_colleague_of_this_test_0001",
  stranger: "trv_stranger_of_this_test_00001",
  reserved: "trv_reserved_of_this_test_00001",
};
/** What a private key has made. */
let made: Made;

interface Made {
  conversation: string;
  item: string;
  completion: string;
  response: string;
}

beforeAll(async () => {
  gateway = await startTestGateway({
    config: {
      simulator: true,
      keys: [
        { name: "owner", key: keys["owner"], project: "red", scopes: ["keys:create"] },
        { name: "colleague", key: keys["colleague"], project: "red" },
        { name: "stranger", key: keys["stranger"], project: "blue" },
        { name: "reserved", key: keys["reserved"], project: "red", objects: "private" },
        { name: "test", key: TEST_KEY, project: "red" },
      ],
    },
  });
  for (const name of ["child", "sibling"]) keys[name] = (await childOf(keyOf("owner"), name)).key;
  made = await makeWith(keyOf("reserved"));
});
afterAll(() => gateway.stop());

const keyOf = (name: string): string => keys[name] ?? "";

const ask = (method: string, path: string, key: string, body?: object) =>
  fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
    body: body === undefined ? null : JSON.stringify(body),
  });

async function answer<Body>(method: string, path: string, key: string, body?: object): Promise<Body> {
  return (await (await ask(method, path, key, body)).json()) as Body;
}

const childOf = async (parent: string, name: string): Promise<{ id: string; key: string }> =>
  (await answer<{ data: { id: string; key: string } }>("POST", "/api/v1/keys", parent, { name })).data;

const user = (content: unknown) => ({ role: "user", content });

async function makeWith(key: string): Promise<Made> {
  const { id } = await answer<{ id: string }>("POST", "/v1/conversations", key, { items: [user(SECRET)] });
  const { data } = await answer<{ data: { id: string }[] }>("GET", `/v1/conversations/${id}/items`, key);
  const turn = { model: "sim/standard", input: SECRET, conversation: id };
  const response = await answer<{ id: string }>("POST", "/v1/responses", key, turn);
  const completion = await answer<{ id: string }>("POST", "/v1/chat/completions", key, {
    model: "sim/standard",
    messages: [user(SECRET)],
    metadata: { word: SECRET },
    store: true,
  });
  return { conversation: id, item: data[0]?.id ?? "", completion: completion.id, response: response.id };
}

type Send = (key: string, of: Made) => Promise<Response>;

/** Every request that names an object of another key. */
const REQUESTS: readonly [name: string, status: number, send: Send][] = [
  ["show a conversation", 404, (key, of) => ask("GET", `/v1/conversations/${of.conversation}`, key)],
  [
    "change a conversation",
    404,
    (key, of) => ask("POST", `/v1/conversations/${of.conversation}`, key, { metadata: {} }),
  ],
  ["delete a conversation", 404, (key, of) => ask("DELETE", `/v1/conversations/${of.conversation}`, key)],
  ["list items", 404, (key, of) => ask("GET", `/v1/conversations/${of.conversation}/items`, key)],
  [
    "add items",
    404,
    (key, of) => ask("POST", `/v1/conversations/${of.conversation}/items`, key, { items: [user("x")] }),
  ],
  ["show an item", 404, (key, of) => ask("GET", `/v1/conversations/${of.conversation}/items/${of.item}`, key)],
  ["delete an item", 404, (key, of) => ask("DELETE", `/v1/conversations/${of.conversation}/items/${of.item}`, key)],
  ["take a turn", 400, (key, of) => turn(key, of.conversation)],
  ["take a turn by an object", 400, (key, of) => turn(key, { id: of.conversation })],
  ["take a streamed turn", 400, (key, of) => turn(key, of.conversation, { stream: true })],
  ["take a turn in the background", 400, (key, of) => turn(key, of.conversation, { background: true })],
  [
    "count the tokens of a turn",
    400,
    (key, of) =>
      ask("POST", "/v1/responses/input_tokens", key, {
        model: "sim/standard",
        input: "x",
        conversation: of.conversation,
      }),
  ],
  [
    "continue a response of it",
    400,
    (key, of) =>
      ask("POST", "/v1/responses", key, { model: "sim/standard", input: "x", previous_response_id: of.response }),
  ],
  ["list the input of a response of it", 404, (key, of) => ask("GET", `/v1/responses/${of.response}/input_items`, key)],
  ["show a completion", 404, (key, of) => ask("GET", `/v1/chat/completions/${of.completion}`, key)],
  [
    "change a completion",
    404,
    (key, of) => ask("POST", `/v1/chat/completions/${of.completion}`, key, { metadata: {} }),
  ],
  ["delete a completion", 404, (key, of) => ask("DELETE", `/v1/chat/completions/${of.completion}`, key)],
  ["list messages", 404, (key, of) => ask("GET", `/v1/chat/completions/${of.completion}/messages`, key)],
  ["list after a completion", 400, (key, of) => ask("GET", `/v1/chat/completions?after=${of.completion}`, key)],
];

const turn = (key: string, conversation: unknown, more = {}) =>
  ask("POST", "/v1/responses", key, { model: "sim/standard", input: "x", conversation, ...more });

describe("H56: what a private key stores exists only for that key", () => {
  for (const who of ["stranger", "colleague", "owner", "child"])
    for (const [name, status, send] of REQUESTS) {
      test(`${name}, as ${who}`, async () => {
        const refused = await send(keyOf(who), made);
        const text = await refused.text();
        expect([refused.status, text.includes(SECRET)]).toEqual([status, false]);
      });
    }

  test("lists do not show it to others, whatever they ask for", async () => {
    for (const who of ["stranger", "colleague", "owner", "child"])
      for (const query of ["", "?model=sim/standard", `?metadata[word]=${SECRET}`]) {
        const text = await (await ask("GET", `/v1/chat/completions${query}`, keyOf(who))).text();
        expect(text).not.toContain(made.completion);
      }
  });

  test("a wrong key gets 401 everywhere", async () => {
    for (const [, , send] of REQUESTS) expect((await send("trv_no_such_key_of_this_test_01", made)).status).toBe(401);
  });

  test("its own key sees all of it, unchanged", async () => {
    const key = keyOf("reserved");
    const { data } = await answer<{ data: object[] }>("GET", `/v1/conversations/${made.conversation}/items`, key);
    expect(data).toHaveLength(3);
    expect(await (await ask("GET", `/v1/chat/completions?metadata[word]=${SECRET}`, key)).text()).toContain(
      made.completion,
    );
  });
});

describe("H56: child keys", () => {
  test("what a child stores is hidden from its sibling and its parent, which can only delete it", async () => {
    const of = await makeWith(keyOf("child"));
    for (const who of ["sibling", "owner"])
      for (const [name, status, send] of REQUESTS) {
        if (name.startsWith("delete a")) continue;
        const refused = await send(keyOf(who), of);
        expect([name, refused.status, (await refused.text()).includes(SECRET)]).toEqual([name, status, false]);
      }
    expect((await ask("DELETE", `/v1/conversations/${of.conversation}`, keyOf("sibling"))).status).toBe(404);
    expect((await ask("DELETE", `/v1/chat/completions/${of.completion}`, keyOf("sibling"))).status).toBe(404);
    expect((await ask("DELETE", `/v1/conversations/${of.conversation}`, keyOf("owner"))).status).toBe(200);
    expect((await ask("DELETE", `/v1/chat/completions/${of.completion}`, keyOf("owner"))).status).toBe(200);
    expect((await ask("GET", `/v1/conversations/${of.conversation}`, keyOf("child"))).status).toBe(404);
  });

  test("a revoked key gets 401, and what it shared privately stays hidden", async () => {
    const { id, key } = await childOf(keyOf("owner"), "short");
    const of = await makeWith(key);
    expect((await ask("DELETE", `/api/v1/keys/${id}`, keyOf("owner"))).status).toBe(200);
    for (const [name, , send] of REQUESTS) expect([name, (await send(key, of)).status]).toEqual([name, 401]);
    expect((await ask("GET", `/v1/conversations/${of.conversation}`, keyOf("colleague"))).status).toBe(404);
    expect((await ask("DELETE", `/v1/conversations/${of.conversation}`, keyOf("owner"))).status).toBe(200);
  });
});

describe("H56: what is shared within a project", () => {
  test("is used by a colleague, and not by a stranger", async () => {
    const of = await makeWith(keyOf("owner"));
    for (const [name, , send] of REQUESTS) {
      if (name.startsWith("delete")) continue;
      expect([name, (await send(keyOf("colleague"), of)).status]).toEqual([name, 200]);
    }
    for (const [name, status, send] of REQUESTS) {
      expect([name, (await send(keyOf("stranger"), of)).status]).toEqual([name, status]);
    }
  });

  test("a vendor's raw id is refused", async () => {
    const raw = "conv_69b58644a57081948324470dc5eaec820bd744e943e1aadd";
    expect((await ask("GET", `/v1/conversations/${raw}`, keyOf("owner"))).status).toBe(404);
    const refused = await turn(keyOf("owner"), raw);
    const { error } = (await refused.json()) as { error: { param: string; code: string } };
    expect([refused.status, error.param, error.code]).toEqual([400, "conversation", "conversation_not_found"]);
    expect(
      (await ask("GET", "/v1/chat/completions/chatcmpl-AyPNinnUqUDYo9SAdA52NobMflmj2", keyOf("owner"))).status,
    ).toBe(404);
  });
});
