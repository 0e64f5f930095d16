import { type JsonObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { priceOf } from "../../catalogue/price-table.ts";
import { estimateInput } from "../../dialects/reading/estimate-tokens.ts";
import { checkModeration } from "../../services/moderation/schema.ts";
import { notesOnOtherModels, withoutRouting } from "../../services/without-routing.ts";
import { answerHeaders } from "../answer/answer-headers.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { readBody } from "../request/read-body.ts";
import { answerService } from "./answer-service.ts";
import { estimateInputUse } from "./estimate-service.ts";
import { readsAll } from "./plausible-usage.ts";
import type { ServiceAttempt } from "./service-attempt.ts";
import { admitService, type Service } from "./service-call.ts";

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

const MODERATIONS: Service<"moderations", JsonObject> = {
  name: "moderations",
  read: async (request, memory, gateway) => {
    const received = await readBody(request, { maxBytes: gateway.snapshot.maxBodyBytes, memory }, gateway);
    const { body } = received;
    checkModeration(body);
    const model = stringAt(body, "model") ?? firstModerator(gateway);
    return { sent: received, request: withoutRouting(body), body, model, notes: notesOnOtherModels(body) };
  },
  estimate: (body) => estimateInputUse(estimateInput(body["input"])),
};

/** Clients of the vendor's API may omit the model. */
function firstModerator({ snapshot }: Gateway): string {
  const found = snapshot.catalogue.list().find(({ kind }) => kind === "moderation");
  if (found !== undefined) return found.id;
  const message = "No moderation model is configured. docs/speech.md lists the providers that have one.";
  throw new GatewayError("not_found", message, { path: "model" });
}

/** `moderations`: passed on unchanged to hosts that support it. */
export async function relayModerations(incoming: IncomingRequest, gateway: Gateway): Promise<Response> {
  const { call, targets } = await admitService(incoming, gateway, MODERATIONS);
  const answer = await answerService(
    call,
    gateway,
    targets,
    (attempt) => moderate(call.request, attempt),
    (body) => ({ ...body, model: call.modelInAnswer }),
  );
  const answered = JSON.stringify(answer);
  call.capture?.answered(answered);
  return identifiedResponse(answered, answerHeaders(call, "application/json"));
}

async function moderate(body: JsonObject, attempt: ServiceAttempt<"moderations">): Promise<JsonObject> {
  const { adapter, pricings } = attempt.target;
  attempt.note([]);
  // Most hosts do not charge for it and report no usage.
  const isFree = priceOf(pricings, "input").state !== "priced";
  const work = attempt.begin(isFree ? {} : { input: estimateInput(body["input"]) });
  try {
    const read = adapter.read(await attempt.ask(adapter.submit(body, attempt.context), MAX_ANSWER_BYTES));
    const isPlausible = read.usage === undefined && isFree ? () => true : readsAll(textsIn(body["input"]));
    attempt.done(work, read.usage ?? (isFree ? {} : undefined), { isPlausible });
    return read.body;
  } finally {
    attempt.failed(work);
  }
}

/** Characters of the text; hosts count images in their own way. */
function textsIn(input: unknown): number {
  if (typeof input === "string") return input.length;
  if (!Array.isArray(input)) return 0;
  return input.reduce<number>((sum, item) => sum + (typeof item === "string" ? item.length : 0), 0);
}
