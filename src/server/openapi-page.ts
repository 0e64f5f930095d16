import type { Handler } from "./routed-request.ts";

/** What describes the API is loaded when it is asked for: most processes never are. */
export const sendOpenApi: Handler = async (_routed, { publicUrl, version }) => {
  const { openApiDocument } = await import("./openapi.ts");
  return Response.json(openApiDocument({ publicUrl: publicUrl(), version }));
};
