import type { InlineImage } from "../../src/media/image.ts";
import type { RandomVideoRequest } from "./random-videos.ts";
import type { VideoHarness } from "./video-harness.ts";

const TIMEOUT_MS = 30_000;

export function videoBody({ prompt, image, lastFrame, parameters }: RandomVideoRequest): object {
  const bytes = ({ base64, mimeType }: InlineImage) => ({ bytesBase64Encoded: base64, mimeType });
  const instance = {
    prompt,
    image: image && bytes(image),
    lastFrame: lastFrame && bytes(lastFrame),
  };
  return { instances: [instance], parameters };
}

/** Problems of the response to a random submit; empty if there are none. */
export async function judgeVideos(
  { gateway, simulator, database }: VideoHarness,
  model: string,
  request: RandomVideoRequest,
): Promise<string[]> {
  const before = simulator.stats().requests;
  const [publisher, name] = model.split("/");
  const response = await fetch(
    `${gateway.url}/api/genai/v1/publishers/${publisher}/models/${name}:predictLongRunning`,
    {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify(videoBody(request)),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    },
  );
  const text = await response.text();
  if (response.status === 200) {
    const asked = Number(request.parameters["sampleCount"] ?? 1);
    const [id] = (JSON.parse(text) as { name: string }).name.split("/").slice(-1);
    const row = database.query("SELECT parts FROM operations WHERE id = ?").get(id ?? "") as { parts: string };
    const parts = JSON.parse(row.parts) as { count: number; error?: { message: string } }[];
    const failed = parts.flatMap(({ error }) => (error ? [`a part was refused by the host: ${error.message}`] : []));
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    return count === asked ? failed : [`${count} videos instead of ${asked}`, ...failed];
  }
  if (response.status !== 400) return [`status ${response.status}: ${text}`];
  // A refusal must be the gateway's: it comes before a host gets a request, and uses the client's name for the field.
  const { error } = JSON.parse(text) as { error: { details?: { fieldViolations?: { field: string }[] }[] } };
  const path = error.details?.flatMap(({ fieldViolations = [] }) => fieldViolations)[0]?.field;
  const own = ["instances[0].prompt", "instances[0].image", "instances[0].lastFrame"];
  const paths = [...own, ...Object.keys(request.parameters).map((key) => `parameters.${key}`)];
  const problems = path !== undefined && paths.includes(path) ? [] : [`the refusal names ${path}: ${text}`];
  return simulator.stats().requests === before ? problems : [...problems, `refused by the host: ${text}`];
}
