import { arrayAt, type JsonObject, numberAt, objectAt, parseObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { reportTerms } from "../../canon/terms.ts";
import type { Usage } from "../../canon/usage.ts";
import { type PriceList, priceCall, termsBeforeAnswer } from "../../catalogue/price-call.ts";
import { billables } from "../../dialects/chat/billables.ts";
import { chatCodec } from "../../dialects/chat/codec.ts";
import { PRICED_FIELDS } from "../../dialects/chat/native.ts";
import { estimateInput, tokensOfCharacters } from "../../dialects/reading/estimate-tokens.ts";
import { askedTerms, namesOfTerms } from "../../dialects/reading/priced-fields.ts";
import type { CompletionPart } from "../../services/completion/completion-part.ts";
import { checkCompletion } from "../../services/completion/schema.ts";
import { notesOnOtherModels, withoutRouting } from "../../services/without-routing.ts";
import { answerHeaders } from "../answer/answer-headers.ts";
import { identifiedResponse } from "../answer/identity-headers.ts";
import type { ProviderExchange } from "../attempt/provider-exchange.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import { guardServiceAnswer, type ServiceStop } from "../guard/guard-service.ts";
import { readBody } from "../request/read-body.ts";
import { withRequestedTools } from "../request/with-requested-tools.ts";
import { answerService } from "./answer-service.ts";
import { eventData, isEventStream } from "./event-data.ts";
import { makesAll, readsAll } from "./plausible-usage.ts";
import type { ServiceAttempt } from "./service-attempt.ts";
import { admitService, type Service, type ServiceCall } from "./service-call.ts";
import { type ServiceStream, streamService } from "./stream-service.ts";

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** The default output limit of hosts. */
const DEFAULT_MAX_TOKENS = 16;

type CompletionCall = ServiceCall<JsonObject, "completions">;
type Attempt = ServiceAttempt<"completions">;

const COMPLETIONS: Service<"completions", JsonObject> = {
  name: "completions",
  billables,
  read: async (request, memory, gateway) => {
    const received = await readBody(request, { maxBytes: gateway.snapshot.maxBodyBytes, memory }, gateway);
    const { body } = received;
    checkCompletion(body);
    const [stream, notes] = [body["stream"] === true, notesOnOtherModels(body)];
    return { sent: received, request: withoutRouting(body), body, stream, notes };
  },
  estimate: (body) => {
    const usage = expectedOf(body);
    const terms = namesOfTerms(askedTerms(body, PRICED_FIELDS));
    const tokens = (usage.input ?? 0) + (usage.output ?? 0);
    return (target) => ({
      costNanoUsd: priceCall(withTools(body, target, usage), target, terms).costNanoUsd,
      tokens,
    });
  },
};

/** Each choice may use the whole limit. All are billed, including those left out. */
function expectedOf(body: JsonObject): Usage {
  const choices = Math.max(numberAt(body, "n") ?? 1, numberAt(body, "best_of") ?? 1);
  const prompts = Array.isArray(body["prompt"]) && typeof body["prompt"][0] !== "number" ? body["prompt"].length : 1;
  const output = (numberAt(body, "max_tokens") ?? DEFAULT_MAX_TOKENS) * choices * prompts;
  return { input: estimateInput(body["prompt"]), output };
}

/** Responses do not count hosted tools: each requested tool counts as used. */
function withTools(body: JsonObject, { toolPrices }: Pick<PriceList, "toolPrices">, usage: Usage): Usage {
  const target = { codec: chatCodec, toolPrices };
  return withRequestedTools({ billables: billables(body), attempt: { target, notes: [] }, brokeOff: false }, usage);
}

/** Only the best responses are returned, but all are billed. */
function madePerShown(body: JsonObject): number {
  const shown = numberAt(body, "n") ?? 1;
  return Math.max(1, (numberAt(body, "best_of") ?? 1) / shown);
}

/** Characters of a prompt; of one in tokens, their number. */
function charactersIn(prompt: unknown): number {
  if (typeof prompt === "string") return prompt.length;
  if (Array.isArray(prompt)) return prompt.reduce<number>((sum, part) => sum + charactersIn(part), 0);
  return 1;
}

/** `completions`, the API before chat: passed on unchanged to hosts that support it. */
export async function relayCompletions(incoming: IncomingRequest, gateway: Gateway): Promise<Response> {
  const { call, targets } = await admitService(incoming, gateway, COMPLETIONS);
  if (call.stream) {
    const open = (attempt: Attempt) => openCompletion(call, attempt);
    return streamService(call, gateway, targets, { form: "events", open, stop: stopOf(call) });
  }
  const answered = await answerService(
    call,
    gateway,
    targets,
    (attempt) => complete(call, attempt),
    ({ body }) =>
      guardServiceAnswer(call, gateway, JSON.stringify({ ...body, model: call.modelInAnswer }), stopOf(call)),
  );
  call.capture?.answered(answered);
  return identifiedResponse(answered, answerHeaders(call, "application/json"));
}

const FILTERED = { text: "", logprobs: null, finish_reason: "content_filter" };

/** How a response ends that a guard stops. */
const stopOf = (call: CompletionCall): ServiceStop => ({
  whole: (answer) => {
    const body = parseObject(answer) ?? {};
    const choices = arrayAt(body, "choices").map((_choice, index) => ({ index, ...FILTERED }));
    return JSON.stringify({ ...body, choices });
  },
  streamed: () => {
    const choices = Array.from({ length: numberAt(call.request, "n") ?? 1 }, (_, index) => ({ index, ...FILTERED }));
    const event = { id: call.receiptId, object: "text_completion", model: call.modelInAnswer, choices };
    return `data: ${JSON.stringify(event)}\n\ndata: [DONE]\n\n`;
  },
});

/** The request for this host. Non-standard terms are billed at their price (decision 0018). */
function onTerms({ request }: CompletionCall, attempt: Attempt): JsonObject {
  attempt.terms = termsBeforeAnswer(namesOfTerms(askedTerms(request, PRICED_FIELDS)), attempt.target);
  return request;
}

function begin(body: JsonObject, attempt: Attempt) {
  const work = attempt.begin(expectedOf(body));
  /** Counts the usage that the host reports, or else what it wrote. */
  const finish = (
    usage: Usage | undefined,
    characters: number,
    source: "estimated" | "partial" = "estimated",
  ): void => {
    const output = Math.ceil(tokensOfCharacters(characters) * madePerShown(body));
    attempt.done(work, usage && withTools(body, attempt.target, usage), {
      instead: withTools(body, attempt.target, { input: estimateInput(body["prompt"]), output }),
      source,
      isPlausible: (reported) => readsAll(charactersIn(body["prompt"]))(reported) && makesAll(characters)(reported),
    });
  };
  return { finish, fail: () => attempt.failed(work) };
}

async function complete(call: CompletionCall, attempt: Attempt): Promise<CompletionPart> {
  const { adapter } = attempt.target;
  const body = onTerms(call, attempt);
  const { finish, fail } = begin(body, attempt);
  try {
    const part = adapter.read(await attempt.ask(adapter.submit(body, attempt.context), MAX_ANSWER_BYTES));
    reportTerms(attempt, part.body["service_tier"]);
    finish(part.usage, part.characters);
    return part;
  } finally {
    fail();
  }
}

async function openCompletion(call: CompletionCall, attempt: Attempt): Promise<ServiceStream> {
  const { adapter, provider } = attempt.target;
  const body = onTerms(call, attempt);
  const ending = begin(body, attempt);
  try {
    const request = adapter.submit(body, attempt.context);
    const exchange = await attempt.open(request, { idleMs: provider.timeoutMs.idle });
    if (isEventStream(exchange)) {
      return { contentType: "text/event-stream", parts: streamed(call, exchange, attempt, ending) };
    }
    exchange.close();
    throw new GatewayError("upstream_failed", "The provider did not stream its response.");
  } catch (thrown) {
    ending.fail();
    throw thrown;
  }
}

async function* streamed(
  call: CompletionCall,
  exchange: ProviderExchange,
  attempt: Attempt,
  { finish, fail }: ReturnType<typeof begin>,
): AsyncGenerator<string> {
  const wantsUsage = objectAt(call.request, "stream_options")?.["include_usage"] === true;
  let characters = 0;
  let finished = 0;
  let usage: Usage | undefined;
  try {
    for await (const data of eventData(exchange)) {
      const part = attempt.target.adapter.readEvent(data);
      reportTerms(attempt, part.body["service_tier"]);
      characters += part.characters;
      finished += part.finished;
      usage = part.usage ?? usage;
      if (!part.usageAlone || wantsUsage)
        yield `data: ${JSON.stringify({ ...part.body, model: call.modelInAnswer })}\n\n`;
    }
    if (finished === 0)
      throw new GatewayError("upstream_failed", "The provider closed the stream before the end of its response.");
    finish(usage, characters);
    yield "data: [DONE]\n\n";
  } finally {
    if (characters > 0) finish(usage, characters, "partial");
    fail();
  }
}
