import { GatewayError } from "../../canon/error.ts";
import type { FileToSend, StoredFile } from "../../dialects/request/file-parts.ts";
import type { Gateway } from "../gateway.ts";

/** The content of a stored file, as requests have it. */
export async function readFile(
  { id, name, mimeType }: StoredFile,
  path: string,
  uploads: Pick<Gateway["uploads"], "open">,
): Promise<FileToSend> {
  const content = await uploads.open({ id });
  if (content === undefined) throw fileGone(name, path);
  const bytes = Buffer.from(await new Response(content).arrayBuffer());
  const text = isText(mimeType) ? bytes.toString() : undefined;
  return { name, mimeType, base64: bytes.toString("base64"), text };
}

const isText = (type: string): boolean =>
  type.startsWith("text/") || /^application\/(?:json|jsonl|xml|x-sh|rtf|javascript)$/.test(type);

export const fileGone = (id: string, path: string): GatewayError =>
  new GatewayError("invalid_request", `${path} names the file ${JSON.stringify(id)}, which has expired.`, { path });
