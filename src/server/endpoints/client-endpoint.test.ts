import { describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Type } from "../../base/type.ts";
import { BUILT_IN_DIALECTS } from "../../dialects/index.ts";
import { json } from "../openapi/operation.ts";
import { openApiDocument } from "../openapi.ts";
import { RouteTable } from "../route-table.ts";
import type { RoutedRequest, ServerContext } from "../routed-request.ts";
import { routesOf } from "../routes.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { ENDPOINTS } from "./index.ts";
import { chatPaths } from "./paths.ts";

/** In one declaration, as in docs/adding-an-endpoint.md. */
const countWords: ClientEndpoint = {
  method: "POST",
  paths: chatPaths("/texts/{id}/words"),
  id: "countWords",
  summary: "Count the words of a text",
  dialect: "chat",
  request: Type.Object({ text: Type.String() }, { title: "WordsRequest" }),
  answers: [json(Type.Object({ words: Type.Number() }, { title: "WordsAnswer" }), "The count.")],
  handle: async ({ request, parameters }) => {
    const { text } = (await request.json()) as { text: string };
    return Response.json({ id: parameters["id"], words: text.split(" ").length });
  },
};

describe("an endpoint that is declared once", () => {
  const endpoints = [...ENDPOINTS, countWords];

  test("is served at both base URLs, for a client with a key", async () => {
    const table = new RouteTable(routesOf(BUILT_IN_DIALECTS, endpoints));
    for (const [path, door] of [
      ["/api/v1/texts/t1/words", "contract"],
      ["/v1/texts/t1/words", "dropin"],
    ] as const) {
      const match = table.find("POST", path);
      expect(match?.route).toMatchObject({ access: "key", dialect: "chat", door });
      const request = new Request(`http://127.0.0.1${path}`, { method: "POST", body: `{"text":"two words"}` });
      const routed = { request, parameters: match?.parameters ?? {} } as RoutedRequest;
      const answer = await match?.route.handle(routed, {} as ServerContext);
      expect(await answer?.json()).toEqual({ id: "t1", words: 2 });
    }
  });

  test("is in the OpenAPI document with its schemas and failures, which stays valid", async () => {
    const document = JSON.parse(
      JSON.stringify(openApiDocument({ publicUrl: "http://a", version: "1", endpoints })),
    ) as {
      paths: Record<string, { post?: { operationId: string; responses: object; security: object[] } }>;
      components: { schemas: object };
    };
    const { post } = document.paths["/v1/texts/{id}/words"] ?? {};
    expect(post?.operationId).toBe("countWordsDropIn");
    expect(post?.security).toHaveLength(3);
    expect(Object.keys(post?.responses ?? {})).toEqual(expect.arrayContaining(["200", "400", "401", "429"]));
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(["WordsRequest", "WordsAnswer"]));
    expect((await new Validator().validate(document)).errors ?? []).toEqual([]);
  });
});
