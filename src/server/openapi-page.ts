import { openApiDocument } from "./openapi.ts";
import type { Handler } from "./routed-request.ts";

export const sendOpenApi: Handler = (_routed, { publicUrl, version }) =>
  Response.json(openApiDocument({ publicUrl: publicUrl(), version }));
