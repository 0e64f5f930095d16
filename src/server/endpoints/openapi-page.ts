import { openObject } from "../../dialects/reading/schema-builders.ts";
import { json } from "../openapi/operation.ts";
import type { ClientEndpoint } from "./client-endpoint.ts";
import { ownPath } from "./paths.ts";

/** The document of these endpoints. */
export const getOpenApi = (endpoints: () => readonly ClientEndpoint[]): ClientEndpoint => ({
  method: "GET",
  paths: ownPath("/openapi.json"),
  id: "getOpenApi",
  summary: "This document",
  dialect: "chat",
  access: "open",
  answers: [json(openObject(), "An OpenAPI 3.1 document.")],
  handle: async (_routed, { publicUrl, version }) => {
    // Most processes never need it.
    const { openApiDocument } = await import("../openapi.ts");
    return Response.json(openApiDocument({ publicUrl: publicUrl(), version, endpoints: endpoints() }));
  },
});
