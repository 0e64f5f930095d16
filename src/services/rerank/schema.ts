import type { Static } from "typebox";
import { Type } from "../../base/type.ts";
import { EXPECTED } from "../../dialects/reading/schema-builders.ts";
import { defineBodyCheck } from "../../media/check-body.ts";

/** If a host accepts fewer per request, several are sent. */
const MAX_DOCUMENTS = 2048;

const Document = Type.Union([Type.String(), Type.Object({ text: Type.String() })], {
  [EXPECTED]: "a string, or an object with a text field",
});

export const RerankRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, description: "`<provider>/<model_name>`." }),
    query: Type.String({ minLength: 1 }),
    documents: Type.Array(Document, { minItems: 1, maxItems: MAX_DOCUMENTS }),
    top_n: Type.Optional(Type.Integer({ minimum: 1 })),
    return_documents: Type.Optional(
      Type.Boolean({ description: "Whether the response includes the documents as they were sent." }),
    ),
    max_tokens_per_doc: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { title: "RerankRequest" },
);
export type RerankRequest = Static<typeof RerankRequest>;

export const checkRerank = defineBodyCheck(RerankRequest, () => {});
