import { cohereServices } from "../hosts/cohere/services.ts";
import { compatibleServices } from "../hosts/compatible/services.ts";
import { geminiEmbeddings, vertexEmbeddings } from "../hosts/google/embeddings.ts";
import { openaiEmbeddings } from "../hosts/openai/embeddings.ts";
import { qwenServices } from "../hosts/qwen/services.ts";
import { voyageServices } from "../hosts/voyage/services.ts";
import type { MediaHost } from "../media/media-host.ts";

/** The vendors with embeddings or rerankers, by the first segments of their URLs here. */
const SERVICE_HOSTS: ReadonlyMap<string, MediaHost> = new Map([
  ["openai", openaiEmbeddings],
  ["gemini", geminiEmbeddings],
  ["vertex", vertexEmbeddings],
  ["hosts/cohere", cohereServices],
  ["hosts/qwen", qwenServices],
  ["hosts/voyage", voyageServices],
]);

/** The side of the host that a path belongs to that makes embeddings and ranks documents. */
export function serviceHostOf(path: string): MediaHost | undefined {
  const [, first = "", second = ""] = path.split("/");
  if (first !== "hosts") return SERVICE_HOSTS.get(first);
  return SERVICE_HOSTS.get(`hosts/${second}`) ?? compatibleServices(second);
}
