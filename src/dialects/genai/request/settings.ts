import { isObject, type JsonObject, objectAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import type { CallSettings, CanonCall, Extra, OutputFormat } from "../../../canon/call.ts";
import { Fields } from "../../../canon/fields.ts";
import type { MediaPart } from "../../../canon/part.ts";
import type { ReasoningRequest } from "../../../canon/reasoning.ts";
import { clampOutput } from "../../../canon/traits.ts";
import { describedSchema } from "../../reading/answer-schema.ts";
import { encodeDetail } from "../media.ts";
import { type EncodeScope, fieldPathOf } from "./encode-scope.ts";
import { toJsonSchema } from "./json-schema.ts";
import { lowerSchema } from "./lower-schema.ts";
import { decodeThinking, encodeThinking } from "./reasoning.ts";
import { withoutDialect } from "./tools.ts";

const NAME = "generationConfig";

/** Numbers with the same name in the canon and on the wire. */
const NUMBERS = [
  "temperature",
  "topP",
  "topK",
  "candidateCount",
  "maxOutputTokens",
  "presencePenalty",
  "frequencyPenalty",
  "seed",
] as const satisfies readonly (keyof CallSettings)[];

const MAX_STOPS = 5;
/** Penalties must be below 2 here, so 2 or more becomes this. */
const MAX_PENALTY = 1.99;
const SEED_LIMIT = 2 ** 31;

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

interface DecodedConfig {
  settings: CallSettings;
  paths: CanonCall["paths"];
  format?: OutputFormat;
  reasoning?: ReasoningRequest;
  extras: Extra[];
}

export function decodeSettings(raw: JsonObject | undefined): DecodedConfig {
  const fields = new Fields(raw);
  const settings: Writable<CallSettings> = {};
  const paths: Writable<CanonCall["paths"]> = {};
  const thinking = decodeThinking(fields.object("thinkingConfig") ?? {});
  for (const name of NUMBERS) {
    const value = fields.number(name);
    if (value === undefined) continue;
    settings[name] = value;
    paths[name] = `${NAME}.${name}`;
  }
  const stop = fields.array("stopSequences")?.filter((one) => typeof one === "string");
  if (stop !== undefined && stop.length > 0) {
    settings.stop = stop;
    paths.stop = `${NAME}.stopSequences`;
  }
  const top = fields.number("logprobs");
  if (fields.boolean("responseLogprobs")) {
    settings.logprobs = top ?? 0;
    paths.logprobs = `${NAME}.responseLogprobs`;
  }
  const format = decodeFormat(fields, raw ?? {});
  if (format !== undefined) paths.format = `${NAME}.${format.field}`;
  skipDefaults(fields, raw ?? {});
  const extras = Object.entries(fields.rest() ?? {}).map(([key, value]) => ({ keys: [NAME, key], value }));
  const inner = Object.entries(thinking.rest).map(([key, value]) => ({ keys: [NAME, "thinkingConfig", key], value }));
  return {
    settings,
    paths,
    ...(format === undefined ? {} : { format: format.format }),
    ...(thinking.reasoning === undefined ? {} : { reasoning: thinking.reasoning }),
    extras: [...extras, ...inner],
  };
}

/** Fields with their default value are no loss to a target that lacks them. */
function skipDefaults(fields: Fields, raw: JsonObject): void {
  for (const flag of ["audioTimestamp", "enableAffectiveDialog"]) if (raw[flag] === false) fields.skip(flag);
  const modalities = raw["responseModalities"];
  if (Array.isArray(modalities) && modalities.every((one) => one === "TEXT")) fields.skip("responseModalities");
  if (raw["mediaResolution"] === "MEDIA_RESOLUTION_UNSPECIFIED") fields.skip("mediaResolution");
}

interface FoundFormat {
  format: OutputFormat;
  field: string;
}

/** The host writes the types as enums; its clients also send media types. */
const JSON_TYPES: ReadonlySet<unknown> = new Set(["APPLICATION_JSON", "application/json"]);
const PLAIN_TYPES: ReadonlySet<unknown> = new Set(["TEXT_PLAIN", "text/plain", "MIME_TYPE_UNSPECIFIED", undefined]);

/** `responseFormat` is one object or a list. Formats other than text exist only in this dialect. */
function decodeResponseFormat(fields: Fields, raw: JsonObject): FoundFormat | undefined {
  const formats = [raw["responseFormat"]].flat();
  const text = formats.length === 1 ? objectAt(formats[0], "text") : undefined;
  if (text === undefined || !hasOnly(formats[0], ["text"]) || !hasOnly(text, ["mimeType", "schema"])) return undefined;
  const { mimeType } = text as { mimeType?: unknown };
  const isJson = JSON_TYPES.has(mimeType);
  if (!isJson && !PLAIN_TYPES.has(mimeType)) return undefined;
  fields.skip("responseFormat");
  if (!isJson) return undefined;
  const schema = objectAt(text, "schema");
  return { format: schema === undefined ? { type: "json" } : { type: "schema", schema }, field: "responseFormat" };
}

const hasOnly = (value: unknown, known: readonly string[]): boolean =>
  isObject(value) && Object.keys(value).every((key) => known.includes(key));

function decodeFormat(fields: Fields, raw: JsonObject): FoundFormat | undefined {
  const newer = decodeResponseFormat(fields, raw);
  if (newer !== undefined) return newer;
  const plain = fields.object("responseJsonSchema");
  const own = fields.object("responseSchema");
  const mimeType = raw["responseMimeType"];
  // Without the enum values, this type only has a meaning in its own dialect.
  if (mimeType !== "text/x.enum" || own !== undefined) fields.skip("responseMimeType");
  if (plain !== undefined) return { format: { type: "schema", schema: plain }, field: "responseJsonSchema" };
  if (own !== undefined) {
    const word = mimeType === "text/x.enum" ? { word: true } : {};
    return { format: { type: "schema", schema: toJsonSchema(own), ...word }, field: "responseSchema" };
  }
  return mimeType === "application/json" ? { format: { type: "json" }, field: "responseMimeType" } : undefined;
}

/** `standIn`: a forced call replaces the response schema. */
export function encodeSettings(scope: EncodeScope, standIn: boolean): JsonObject {
  const { call } = scope;
  const thinkingConfig = encodeThinking(scope);
  const resolution = call.dialect === "genai" ? undefined : overallResolution(scope);
  noteUnknown(scope);
  return withoutAbsent({
    ...encodeSampling(scope),
    ...encodeLimits(scope),
    responseLogprobs: call.logprobs === undefined ? undefined : true,
    logprobs: call.logprobs || undefined,
    ...(standIn ? {} : encodeFormat(scope)),
    thinkingConfig,
    mediaResolution: resolution,
  });
}

const pathOfSetting = ({ call }: EncodeScope, name: keyof CanonCall["paths"]): string => call.paths[name] ?? name;

function encodeSampling(scope: EncodeScope): JsonObject {
  const { call, context, notes } = scope;
  const sampling: Record<string, unknown> = {};
  for (const name of ["temperature", "topP", "topK"] as const) {
    if (call[name] === undefined) continue;
    if (context.traits.rejectsSampling) notes.dropped(pathOfSetting(scope, name), "this model does not accept it");
    else sampling[name] = call[name];
  }
  for (const name of ["presencePenalty", "frequencyPenalty"] as const) {
    const wanted = call[name];
    if (wanted === undefined) continue;
    if (context.traits.rejectsPenalties) {
      notes.dropped(pathOfSetting(scope, name), "this model does not accept it");
      continue;
    }
    const taken = wanted >= 2 ? MAX_PENALTY : Math.max(wanted, -2);
    sampling[name] = taken;
    if (taken !== wanted)
      notes.approximated(pathOfSetting(scope, name), "this protocol accepts penalties from -2 to less than 2");
  }
  if (call.seed !== undefined) {
    const fits = Number.isInteger(call.seed) && call.seed >= -SEED_LIMIT && call.seed < SEED_LIMIT;
    sampling["seed"] = fits ? call.seed : Math.trunc(Math.abs(call.seed)) % SEED_LIMIT;
    if (!fits)
      notes.approximated(pathOfSetting(scope, "seed"), "this protocol accepts 32-bit seeds; the seed was reduced");
  }
  return sampling;
}

function encodeLimits(scope: EncodeScope): JsonObject {
  const { call, context, notes } = scope;
  const limits: Record<string, unknown> = {};
  if (call.maxOutputTokens !== undefined) {
    const lowered = (reason: string) => notes.approximated(pathOfSetting(scope, "maxOutputTokens"), reason);
    limits["maxOutputTokens"] = clampOutput(call.maxOutputTokens, context.traits.maxOutputTokens, lowered);
  }
  const stop = (call.stop ?? []).filter((one) => one !== "");
  if (stop.length === 0) return limits;
  if (context.traits.rejectsStop) {
    notes.dropped(pathOfSetting(scope, "stop"), "this model does not support stop sequences");
    return limits;
  }
  if (stop.length > MAX_STOPS) {
    notes.approximated(
      pathOfSetting(scope, "stop"),
      `this protocol accepts at most ${MAX_STOPS} stop sequences; the first ${MAX_STOPS} were sent`,
    );
  }
  return { ...limits, stopSequences: stop.slice(0, MAX_STOPS) };
}

/** Only the dialect's own schema language returns a single enum value without quotes. */
function encodeFormat(scope: EncodeScope): JsonObject {
  const { format } = scope.call;
  if (format === undefined) return {};
  if (format.type === "json") return { responseMimeType: "application/json" };
  const path = pathOfSetting(scope, "format");
  const described = describedSchema(format.schema, format, path, scope.notes);
  if (scope.context.quirks.jsonSchema && !format.word) {
    return { responseMimeType: "application/json", responseJsonSchema: withoutDialect(described) };
  }
  const responseSchema = lowerSchema(described, (loss) => {
    scope.notes.approximated(path, `this provider's schema language cannot express everything: ${loss}`);
  });
  return { responseMimeType: format.word ? "text/x.enum" : "application/json", responseSchema };
}

function noteUnknown(scope: EncodeScope): void {
  const { call, notes } = scope;
  const lost = (name: keyof CanonCall["paths"], reason: string) => notes.dropped(pathOfSetting(scope, name), reason);
  if (call.logitBias !== undefined) lost("logitBias", "this protocol has no token biases");
  if (call.userId !== undefined) lost("userId", "this protocol has no field for the caller's user");
  if (call.cache?.ttl !== undefined) lost("cache", "this provider caches automatically and accepts no lifetime");
  else if (call.cache?.explicit) lost("cache", "this provider decides what to cache");
  if ((call.candidateCount ?? 1) > 1) lost("candidateCount", "only one response is generated");
  if (call.verbosity !== undefined && call.verbosity !== "medium") {
    lost("verbosity", "this protocol has no setting for verbosity");
  }
}

const DETAILS = ["low", "medium", "high", "ultra_high"] as const;

/**
 * Only the newest models accept a resolution for single parts; all models accept one for the whole request. The highest wins, and
 * parts without a resolution never get a lower one than the default.
 */
function overallResolution(scope: EncodeScope): string | undefined {
  const media = scope.call.turns.flatMap(({ parts }) =>
    parts.filter((part): part is MediaPart => part.type === "media"),
  );
  const rank = ({ detail }: MediaPart) => DETAILS.indexOf(detail as (typeof DETAILS)[number]);
  const highest = Math.max(-1, ...media.map(rank));
  const detail = DETAILS[highest];
  if (detail === undefined) return undefined;
  const sent = highest >= DETAILS.indexOf("high") || media.every((part) => rank(part) >= 0) ? detail : undefined;
  for (const part of media) {
    if (part.detail === sent || rank(part) < 0) continue;
    const reason = `one resolution applies to the whole request: ${sent ?? "the default"}`;
    scope.notes.approximated(fieldPathOf(scope, part, "detail"), reason);
  }
  return encodeDetail(sent);
}
