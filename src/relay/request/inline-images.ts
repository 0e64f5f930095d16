import type { Principal } from "../../access/principal.ts";
import { isObject, type JsonObject, stringAt } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import type { Gateway } from "../gateway.ts";
import type { HeldMemory } from "./memory-budget.ts";

/** Larger than any image that a host accepts. */
const MAX_BYTES = 64 * 1024 * 1024;

interface Caller {
  principal: Principal;
  memory: HeldMemory;
}

/** Inserts the uploaded images that these fields of a request name by `file_id`, as data URLs. */
export async function inlineImages(
  body: JsonObject,
  fields: readonly string[],
  caller: Caller,
  { uploads }: Pick<Gateway, "uploads">,
): Promise<JsonObject> {
  const replace = async (value: unknown, path: string): Promise<unknown> => {
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const [index, item] of value.entries()) items.push(await replace(item, `${path}[${index}]`));
      return items;
    }
    const id = isObject(value) && value["image_url"] === undefined ? stringAt(value, "file_id") : undefined;
    return id === undefined ? value : { image_url: await dataUrl(id, `${path}.file_id`, caller, uploads) };
  };
  const replaced: Record<string, unknown> = { ...body };
  for (const field of fields) if (body[field] !== undefined) replaced[field] = await replace(body[field], field);
  return replaced;
}

async function dataUrl(
  id: string,
  path: string,
  { principal, memory }: Caller,
  uploads: Gateway["uploads"],
): Promise<string> {
  const file = await uploads.find(principal, id);
  const content = file && (await uploads.open(file));
  if (file === undefined || content === undefined) {
    const message = `${path} names no file that this key may use: ${JSON.stringify(id.slice(0, 80))}.`;
    throw new GatewayError("invalid_request", message, { path });
  }
  if (!file.mimeType.startsWith("image/")) {
    throw new GatewayError("invalid_request", `${path} must name an image; the file is ${file.mimeType}.`, { path });
  }
  if (file.size > MAX_BYTES) {
    throw new GatewayError("too_large", `${path} names a file of more than ${MAX_BYTES} bytes.`, { path });
  }
  memory.add(Math.ceil(file.size / 3) * 8);
  const bytes = Buffer.from(await new Response(content).arrayBuffer());
  return `data:${file.mimeType};base64,${bytes.toString("base64")}`;
}
