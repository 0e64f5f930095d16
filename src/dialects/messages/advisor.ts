import { isObject, type JsonObject, stringAt } from "../../base/json.ts";
import type { FieldNote } from "../../canon/receipt.ts";
import { stringifyInOrder } from "../../wire/ordered-json.ts";
import type { NamedModel } from "../dialect.ts";

/** A tool of the host that calls another model. That model's tokens are a pass of their own in the usage, with its name. */
const ADVISOR = /^advisor_\d{8}$/;

export const isAdvisor = (type: string | undefined): boolean => type !== undefined && ADVISOR.test(type);

/** The models that tools of a request call. */
export function advisorModels({ tools }: JsonObject): readonly NamedModel[] {
  if (!Array.isArray(tools)) return NONE;
  let found: NamedModel[] | undefined;
  for (let index = 0; index < tools.length; index++) {
    const tool: unknown = tools[index];
    if (!isObject(tool) || !isAdvisor(stringAt(tool, "type"))) continue;
    found ??= [];
    found.push({ model: stringAt(tool, "model") ?? "", path: `tools[${index}].model`, index });
  }
  return found ?? NONE;
}

const NONE: readonly NamedModel[] = [];

export const notOffered = (model: string): string => `this provider does not offer ${model}`;

/**
 * The tools as JSON, with the names that the provider has for their models; undefined if none names a model. A tool whose model
 * the provider does not offer is left out.
 */
export function withUpstreamNames(
  body: JsonObject,
  nameOf: (model: string) => string | undefined,
  notes: FieldNote[],
): string | undefined {
  const advisors = advisorModels(body);
  if (advisors.length === 0) return undefined;
  const names = new Map(advisors.map(({ index, model }) => [index, nameOf(model)]));
  for (const { model, index } of advisors) {
    if (names.get(index) !== undefined) continue;
    notes.push({ path: `tools[${index}]`, action: "dropped", reason: notOffered(model) });
  }
  const tools = (body["tools"] as readonly JsonObject[]).flatMap((tool, index) => {
    if (!names.has(index)) return [tool];
    const model = names.get(index);
    return model === undefined ? [] : [{ ...tool, model }];
  });
  return stringifyInOrder(tools);
}
