import type { JsonObject } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import { Fields } from "../../canon/fields.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { noteOtherModels, ROUTING_FIELDS } from "../../dialects/reading/routing-fields.ts";
import type { RerankCall } from "./rerank-call.ts";
import { checkRerank, type RerankRequest } from "./schema.ts";

/** A request to rank documents as it was read. */
export interface DecodedRerank {
  call: RerankCall;
  /** The documents as sent, if the response includes them; a plain text becomes an object. */
  returned: readonly JsonObject[] | undefined;
  notes: readonly FieldNote[];
}

/** Reads the body of `rerank`. */
export function decodeRerank(body: JsonObject): DecodedRerank {
  const request: RerankRequest = checkRerank(body);
  const notes: FieldNote[] = [];
  noteOtherModels(body, notes);
  const fields = new Fields(request);
  fields.skip("model", "query", "documents", "return_documents", ...ROUTING_FIELDS);
  const topN = fields.number("top_n");
  const maxTokensPerDocument = fields.number("max_tokens_per_doc");
  return {
    call: withoutAbsent({
      query: request.query,
      documents: request.documents.map((document) => (typeof document === "string" ? document : document.text)),
      topN,
      maxTokensPerDocument,
      extras: fields.rest() ?? {},
    }),
    returned: request.return_documents
      ? request.documents.map((document) => (typeof document === "string" ? { text: document } : document))
      : undefined,
    notes,
  };
}
