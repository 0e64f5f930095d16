import { parseObject } from "../base/json.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { BUILT_IN_DIALECTS } from "../dialects/index.ts";

/** Errors of `rerank`: as that protocol has them, `{ id, message }`, and as the neighbours of the endpoint have them beside it. */
export const RERANK_ERRORS: Pick<Dialect["errors"], "encode"> = {
  encode: (error, requestId) => {
    const answer = BUILT_IN_DIALECTS.get("chat").errors.encode(error, requestId);
    const body = JSON.stringify({ id: requestId, message: error.messageWithPath, ...parseObject(answer.body) });
    return { ...answer, body };
  },
};
