import { arrayAt, isObject, type JsonObject, numberAt, parseObject, stringAt } from "../../base/json.ts";
import type { AskedImage, HostedContext, HostedImages, HostedImagesTool } from "../request/hosted-images.ts";
import type { MediaQuirks } from "../request/media-quirks.ts";
import { HostedImagesAnswer } from "./answer/hosted-images-answer.ts";
import type { ResponsesQuirks } from "./quirks.ts";

const TOOL = "image_generation";
/** Settings that the tool and a request for images share. */
const SETTINGS = ["size", "quality", "background", "output_format", "output_compression", "moderation"];

/** The function that the model gets instead of the tool. */
const FUNCTION: JsonObject = {
  type: "function",
  name: TOOL,
  description:
    "Makes an image and shows it to the user at once. Call it whenever the user wants an image; do not draw with text, and do not repeat the image in words.",
  parameters: {
    type: "object",
    properties: {
      prompt: { type: "string", description: "What the image shows, in full: it is made from this alone." },
    },
    required: ["prompt"],
    additionalProperties: false,
  },
  strict: false,
};

const toolOf = (body: JsonObject): JsonObject | undefined =>
  arrayAt(body, "tools")
    .filter(isObject)
    .find((tool) => tool["type"] === TOOL);

/** `image_generation` for models whose provider does not have it (decision 0048). */
export const hostedImages: HostedImages = {
  read: (body): HostedImagesTool | undefined => {
    const tools = arrayAt(body, "tools");
    const index = tools.findIndex((tool) => stringAt(tool, "type") === TOOL);
    const tool = tools[index];
    if (tool === undefined) return undefined;
    return { path: `tools[${index}]`, model: stringAt(tool, "model"), previews: numberAt(tool, "partial_images") ?? 0 };
  },
  isNative: (via: string, quirks: MediaQuirks): boolean =>
    via === "responses" && ((quirks as ResponsesQuirks).toolTypes?.includes(TOOL) ?? true),
  play: (body: JsonObject, context: HostedContext) =>
    new HostedImagesAnswer(body, {
      ...context,
      name: TOOL,
      first: withFunction(body),
      ask: (call) => askedBy(call, body),
    }),
};

/** The request for a model that supports only functions. Storing is up to the code that assembles the response. */
function withFunction(body: JsonObject): JsonObject {
  const { previous_response_id: _previous, conversation: _conversation, background: _background, ...rest } = body;
  const tools = arrayAt(body, "tools").map((tool) => (stringAt(tool, "type") === TOOL ? FUNCTION : tool));
  const chosen = stringAt(body["tool_choice"], "type") === TOOL;
  return { ...rest, tools, store: false, ...(chosen ? { tool_choice: { type: "function", name: TOOL } } : {}) };
}

/** The model decides only what the image shows. The client's tool sets everything else. */
function askedBy(call: JsonObject, body: JsonObject): AskedImage {
  const prompt = stringAt(parseObject(stringAt(call, "arguments") ?? ""), "prompt") ?? "";
  const tool = toolOf(body) ?? {};
  const set = SETTINGS.flatMap((name) => (tool[name] === undefined || tool[name] === null ? [] : [[name, tool[name]]]));
  return { request: { prompt, ...Object.fromEntries(set) } };
}
