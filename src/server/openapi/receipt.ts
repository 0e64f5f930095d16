import { Type } from "../../base/type.ts";
import { LIVE_DIALECT_NAMES, PROTOCOL_NAMES, UPSTREAM_DIALECT_NAMES } from "../../canon/dialect-name.ts";
import { nullable } from "../../dialects/reading/schema-builders.ts";
import { GuardVerdict } from "./guard-verdict.ts";

const counter = nullable(Type.Number({ minimum: 0 }));
const usage = Type.Object({
  input: counter,
  cache_read: counter,
  cache_write_5m: counter,
  cache_write_1h: counter,
  output: counter,
  reasoning: counter,
  image_input: counter,
  audio_input: counter,
  image_output: counter,
  audio_output: counter,
  images: counter,
  seconds: counter,
  characters: counter,
  searches: counter,
  tools: nullable(
    Type.Record(Type.String(), Type.Number({ minimum: 0 }), { description: "Uses of other hosted tools." }),
  ),
});
const Dialect = Type.Enum([...PROTOCOL_NAMES]);

export const Timing = Type.Object(
  {
    provider_first_content_ms: Type.Integer({
      description: "Waiting for providers, until the first content or the whole response, including failed attempts.",
    }),
    provider_stream_ms: Type.Integer({ description: "From the first content to the end of a stream." }),
    client_ms: Type.Integer({ description: "Waiting for the client to send its request, or to read the response." }),
    backoff_ms: Type.Integer({ description: "Pauses before retrying an offer." }),
    queue_ms: Type.Integer({ description: "Waiting for a free slot at a provider." }),
    gateway_ms: Type.Integer({ description: "The rest." }),
  },
  { title: "Timing", description: "The parts of `total_ms`." },
);

export const BatchPosition = Type.Object(
  {
    id: Type.String(),
    line: Type.Integer({ minimum: 1, description: "In the input of the batch." }),
    custom_id: Type.String(),
  },
  { title: "BatchPosition", description: "The line of a batch that led to the call." },
);

export const CachedAnswer = Type.Object(
  {
    receipt: Type.String({ description: "The receipt of the call that the response was made for." }),
    age_seconds: Type.Integer({ minimum: 0 }),
    usage: Type.Record(Type.String(), Type.Unknown(), { description: "What that call used." }),
  },
  { title: "CachedAnswer", description: "The stored response that answered." },
);

/** The receipt of one call (choices 6). Unknown values are null, never 0. */
export const ReceiptAnswer = Type.Object(
  {
    data: Type.Object({
      id: Type.String(),
      created_at: Type.String({ format: "date-time" }),
      model: Type.String(),
      provider: Type.String(),
      upstream_model: Type.String(),
      dialect: Type.Object({
        client: Dialect,
        upstream: Type.Enum([...UPSTREAM_DIALECT_NAMES, ...LIVE_DIALECT_NAMES, "media", "service"]),
      }),
      lane: Type.Enum(["native", "translated"]),
      stream: Type.Boolean(),
      stop: nullable(Type.Object({ unified: Type.String(), raw: Type.String() })),
      plan: nullable(
        Type.Array(
          Type.Object({
            provider: Type.String(),
            credential: nullable(Type.String()),
            model: nullable(Type.String({ description: "If it differs from the model of the receipt." })),
            place: Type.Integer({ minimum: 1 }),
            why: Type.String(),
          }),
          {
            description: "The offers in the order of their attempts, and why; null if there was only one.",
          },
        ),
      ),
      offers: Type.Array(
        Type.Object({
          provider: Type.String(),
          credential: nullable(
            Type.String({ description: "The label of the credential, if the provider has several." }),
          ),
          outcome: Type.Enum(["answered", "failed", "abandoned"]),
          reason: nullable(Type.String()),
          ms: Type.Number(),
          files: nullable(
            Type.Object(
              { uploaded: Type.Integer({ minimum: 0 }), reused: Type.Integer({ minimum: 0 }) },
              { description: "Files of the request that the provider still had from an earlier upload." },
            ),
          ),
        }),
      ),
      continued: Type.Array(Type.Object({ provider: Type.String(), from_characters: Type.Integer({ minimum: 0 }) }), {
        description: "Where the response continued after the stream broke off, and after how many characters.",
      }),
      answered_by: nullable(
        Type.String({ description: "The model that the answer names, if it is another one than was asked for." }),
      ),
      hedged: Type.Boolean({ description: "A second offer was tried while the first was still running." }),
      require: nullable(
        Type.Record(Type.String(), Type.String(), { description: "The traits that every offer had to have." }),
      ),
      guards: Type.Array(GuardVerdict, { description: "What guards found in the request and the response." }),
      fields: Type.Array(
        Type.Object({
          path: Type.String(),
          action: Type.Enum(["approximated", "dropped"]),
          reason: Type.String(),
        }),
      ),
      tags: Type.Array(Type.String(), { description: "Tags of the call and its key." }),
      end_user: nullable(Type.String({ description: "Who used the client's program, as the request said." })),
      usage,
      usage_source: Type.Enum(["measured", "estimated", "partial"]),
      reported: nullable(usage),
      usage_corrections: Type.Array(
        Type.Enum(["prompt_missing", "prompt_above_context", "output_below_text", "output_above_limit"]),
        { description: "Why the usage reported by the provider cannot be true; `reported` has that usage." },
      ),
      price_rule: Type.String(),
      cost_usd: Type.Number(),
      cached: Type.Boolean({ description: "A stored response answered: nothing was used, and the cost is 0." }),
      saved_nano_usd: Type.Integer({ description: "What the stored response cost when it was made." }),
      cached_answer: nullable(CachedAnswer),
      cost_nano_usd: Type.Integer(),
      unpriced: Type.Array(Type.String(), {
        description: "Use without a known price: hosted tools, terms, the provider's counters.",
      }),
      first_content_ms: nullable(Type.Number()),
      total_ms: Type.Number(),
      timing: nullable(Timing),
      request_id: nullable(Type.String({ description: "The value of the header `x-trivium-request-id`." })),
      session_id: nullable(Type.String({ description: "The live connection that the call was a turn of." })),
      trace_id: nullable(
        Type.String({ description: "The client's trace, or the gateway's own if it exports traces." }),
      ),
      batch: nullable(BatchPosition),
    }),
  },
  { title: "Receipt" },
);
