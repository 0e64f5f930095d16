import type { Exchange } from "../../../exchange.ts";
import { isObject, type Json, type JsonObject } from "../../../json.ts";
import { Seed } from "../../../seed.ts";
import { jsonFields, refuseUnknown } from "../request-fields.ts";
import { missing, optionalEnum, requireArray, requireObject, requireString, wrongType } from "../text/check.ts";
import { invalid } from "../text/errors.ts";

const MODELS = ["moderation", "omni-moderation-latest", "omni-moderation-2024-09-26", "text-moderation-latest"];

const CATEGORIES = [
  "harassment",
  "harassment/threatening",
  "hate",
  "hate/threatening",
  "illicit",
  "illicit/violent",
  "self-harm",
  "self-harm/instructions",
  "self-harm/intent",
  "sexual",
  "sexual/minors",
  "violence",
  "violence/graphic",
];

/** The simulator has no judgement: a text is flagged that asks for it. */
const FLAGGED = /\bsim:flagged\b/;
const FLAGGED_AS = "violence";

interface Judged {
  flagged: boolean;
  types: string[];
}

function partOf(value: Json, param: string): { text: string; type: string } {
  const part = requireObject(value, param);
  if (part.type === "text") return { text: requireString(part.text, `${param}.text`), type: "text" };
  if (part.type === "image_url" && isObject(part.image_url)) return { text: "", type: "image" };
  throw invalid(
    `Invalid value for '${param}.type'. Supported values are: 'text' and 'image_url'.`,
    `${param}.type`,
    null,
  );
}

/** Texts are judged one by one, the parts of one input together. */
function judge(input: Json | undefined): Judged[] {
  const texts = (given: readonly string[]): Judged[] =>
    given.map((text) => ({ flagged: FLAGGED.test(text), types: ["text"] }));
  if (input === undefined) throw missing("input");
  if (typeof input === "string") return texts([input]);
  const list = requireArray(input, "input");
  if (list.length === 0) throw invalid("Invalid 'input': empty array.", "input", "empty_array");
  if (list.every((one) => typeof one === "string")) return texts(list);
  if (list.some((one) => !isObject(one))) throw wrongType(list[0] ?? null, "one of a string or array", "input");
  const parts = list.map((one, at) => partOf(one, `input[${at}]`));
  return [
    { flagged: parts.some(({ text }) => FLAGGED.test(text)), types: [...new Set(parts.map(({ type }) => type))] },
  ];
}

function resultOf({ flagged, types }: Judged): JsonObject {
  const each = (value: (category: string) => Json): JsonObject =>
    Object.fromEntries(CATEGORIES.map((category) => [category, value(category)]));
  return {
    flagged,
    categories: each((category) => flagged && category === FLAGGED_AS),
    category_scores: each((category) => (flagged && category === FLAGGED_AS ? 0.97 : 0.0001)),
    category_applied_input_types: each(() => types),
  };
}

/** `moderations`. */
export function answerModeration(exchange: Exchange): Response {
  const body = jsonFields(exchange);
  const model = optionalEnum(body, "model", MODELS) ?? "omni-moderation-latest";
  exchange.countModel(model);
  refuseUnknown(Object.keys(body), ["model", "input"]);
  const results = judge(body.input).map(resultOf);
  return Response.json({ id: `modr-${new Seed(exchange.bodyText).token("moderation", 24)}`, model, results });
}
