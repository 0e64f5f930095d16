import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../base/json.ts";
import type { NamedModel } from "../../dialect.ts";
import { ONE_MODEL } from "../../reading/routing-fields.ts";

const TOOL = "image_generation";
const SETTING = "svg";

/** The models that draw the images of a request's tools as SVG. */
export function namedModels(body: JsonObject): readonly NamedModel[] {
  let found: NamedModel[] | undefined;
  const tools = arrayAt(body, "tools");
  for (let index = 0; index < tools.length; index++) {
    const model = svgModel(tools[index]);
    if (model === undefined) continue;
    found ??= [];
    found.push({ model, path: `tools[${index}].${SETTING}.model`, index });
  }
  return found ?? NONE;
}

const NONE: readonly NamedModel[] = [];

/** A value that is not text names no model of the catalogue, and is refused like one that does not exist. */
function svgModel(tool: unknown): string | undefined {
  if (stringAt(tool, "type") !== TOOL) return undefined;
  const model = objectAt(tool, SETTING)?.["model"];
  return model === undefined || model === null ? undefined : String(model);
}

interface SentSetting {
  svg: JsonObject;
  /** Why the model is not named. */
  reason?: string;
}

/** The tool's setting with the provider's own name of its model; undefined if it names none. Without it the requested model draws. */
export function sentSvg(
  tool: JsonObject,
  upstreamName: ((model: string) => string | undefined) | undefined,
): SentSetting | undefined {
  const model = svgModel(tool);
  if (model === undefined || upstreamName === undefined) return undefined;
  const { model: _named, ...rest } = objectAt(tool, SETTING) ?? {};
  const name = upstreamName(model);
  return name === undefined ? { svg: rest, reason: ONE_MODEL } : { svg: { ...rest, model: name } };
}

/** The client's own tools, whose definitions may well have a `model`. */
const OF_CLIENTS: ReadonlySet<string | undefined> = new Set(["function", "custom", "namespace"]);

/** Whether a tool of the host names its model. */
export const namesModel = (tool: unknown): tool is JsonObject =>
  isObject(tool) && "model" in tool && !OF_CLIENTS.has(stringAt(tool, "type"));

/** The member of a tool by which it calls another model. Only tools that the request lists itself may do that. */
export function otherModelIn(tool: unknown): string | undefined {
  if (namesModel(tool)) return "model";
  return svgModel(tool) === undefined ? undefined : `${SETTING}.model`;
}
