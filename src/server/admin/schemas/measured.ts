import { Type } from "../../../base/type.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";

/** From the ledger; null without calls. */
export const MeasuredCalls = nullable(
  Type.Object(
    {
      calls: Type.Integer(),
      failures: Type.Integer(),
      first_content_ms: Type.Object(
        { p50: nullable(Type.Number()), p95: nullable(Type.Number()) },
        { description: "To the first content, or to the whole response if it was not streamed." },
      ),
      tokens_per_second: nullable(Type.Number({ description: "Output tokens of streams, after the first content." })),
    },
    { title: "MeasuredCalls" },
  ),
);
