import { arrayAt, type JsonObject, stringAt } from "../../base/json.ts";
import { WRAPPED_MARK } from "../../canon/opaque.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { estimateTokens } from "../../dialects/reading/estimate-tokens.ts";
import { askedTerms, namesOfTerms } from "../../dialects/reading/priced-fields.ts";
import { withoutEchoedIds } from "../../dialects/request/without-echoed-ids.ts";
import { billables } from "../../dialects/responses/billables.ts";
import { PRICED_FIELDS } from "../../dialects/responses/native.ts";
import { responsesObjects } from "../../dialects/responses/object-fields.ts";
import { checkCompaction } from "../../services/compaction/schema.ts";
import { withoutRouting } from "../../services/without-routing.ts";
import { answerHeaders } from "../answer/answer-headers.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { guardServiceAnswer } from "../guard/guard-service.ts";
import { readBody } from "../request/read-body.ts";
import { answerService } from "./answer-service.ts";
import { estimateInputUse } from "./estimate-service.ts";
import type { ServiceAttempt } from "./service-attempt.ts";
import { admitService, type Service } from "./service-call.ts";

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

const COMPACTIONS: Service<"compactions", JsonObject> = {
  name: "compactions",
  billables,
  read: async (request, memory, gateway, { providerObjects }) => {
    const received = await readBody(request, { maxBytes: gateway.snapshot.maxBodyBytes, memory }, gateway);
    checkCompaction(received.body);
    const { body, adapted = [] } = providerObjects
      ? { body: received.body }
      : withoutEchoedIds(received, responsesObjects);
    const { input, notes } = withoutForeignReasoning(body, arrayAt(received.body, "input"));
    return {
      sent: received,
      request: { ...withoutRouting(body), input },
      body,
      notes: [...adapted, ...notes],
    };
  },
  estimate: (body) => estimateInputUse(estimateTokens([body["instructions"], body["input"]])),
};

/** Wrapped reasoning of other families: the host cannot open it, and would reject the request. `sent` has the client's items. */
function withoutForeignReasoning(body: JsonObject, sent: readonly unknown[]): { input: unknown; notes: FieldNote[] } {
  const notes: FieldNote[] = [];
  if (!Array.isArray(body["input"])) return { input: body["input"], notes };
  const input = arrayAt(body, "input").filter((item) => {
    if (!stringAt(item, "encrypted_content")?.startsWith(WRAPPED_MARK)) return true;
    const reason = "reasoning goes back only to the provider that made it";
    notes.push({ path: `input[${sent.indexOf(item)}]`, action: "dropped", reason });
    return false;
  });
  return { input, notes };
}

/**
 * `responses/compact`: passed on to hosts that support it. Sealed content is theirs and is never invented. As in other responses of
 * the protocol, the id is the gateway's and the model has its public name.
 */
export async function relayCompactions(incoming: IncomingRequest, gateway: Gateway): Promise<Response> {
  const { call, targets } = await admitService(incoming, gateway, COMPACTIONS);
  const answered = await answerService(
    call,
    gateway,
    targets,
    (attempt) => compact(call.request, attempt),
    (body) => {
      const named = "model" in body ? { model: call.modelInAnswer } : {};
      const answer = JSON.stringify({ ...body, id: `resp_${gateway.random.id()}`, ...named });
      return guardServiceAnswer(call, gateway, answer);
    },
  );
  call.capture?.answered(answered);
  return identifiedResponse(answered, answerHeaders(call, "application/json"));
}

async function compact(body: JsonObject, attempt: ServiceAttempt<"compactions">): Promise<JsonObject> {
  const { adapter } = attempt.target;
  attempt.note([]);
  attempt.terms = namesOfTerms(askedTerms(body, PRICED_FIELDS));
  const work = attempt.begin({ input: estimateTokens([body["instructions"], body["input"]]) });
  try {
    const read = adapter.read(await attempt.ask(adapter.submit(body, attempt.context), MAX_ANSWER_BYTES));
    attempt.done(work, read.usage);
    return read.body;
  } finally {
    attempt.failed(work);
  }
}
