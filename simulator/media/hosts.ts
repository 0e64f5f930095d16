import { baiduMedia } from "../hosts/baidu/media.ts";
import { blackForestLabsMedia } from "../hosts/black-forest-labs/media.ts";
import { geminiMedia, vertexMedia } from "../hosts/google/media.ts";
import { hunyuanMedia } from "../hosts/hunyuan/media.ts";
import { klingMedia } from "../hosts/kling/media.ts";
import { lumaMedia } from "../hosts/luma/media.ts";
import { minimaxMedia } from "../hosts/minimax/media.ts";
import { azureMedia, compatibleAudio, openaiMedia } from "../hosts/openai/media.ts";
import { qwenMedia } from "../hosts/qwen/media.ts";
import { runwayMedia } from "../hosts/runway/media.ts";
import { volcengineMedia } from "../hosts/volcengine/media.ts";
import { xAiMedia } from "../hosts/x-ai/media.ts";
import { zAiMedia } from "../hosts/z-ai/media.ts";
import type { MediaHost } from "./media-host.ts";

/** The vendors that make images, videos or sound, by the first segments of their URLs here. */
const MEDIA_HOSTS: ReadonlyMap<string, MediaHost> = new Map([
  ["openai", openaiMedia],
  ["gemini", geminiMedia],
  ["vertex", vertexMedia],
  ["hosts/azure-openai", azureMedia],
  ["hosts/baidu", baiduMedia],
  ["hosts/black-forest-labs", blackForestLabsMedia],
  ["hosts/hunyuan", hunyuanMedia],
  ["hosts/kling", klingMedia],
  ["hosts/luma", lumaMedia],
  ["hosts/minimax", minimaxMedia],
  ["hosts/qwen", qwenMedia],
  ["hosts/runway", runwayMedia],
  ["hosts/volcengine", volcengineMedia],
  ["hosts/x-ai", xAiMedia],
  ["hosts/z-ai", zAiMedia],
  ...["groq", "mistral", "together", "openai"].map((kind): [string, MediaHost] => [`hosts/${kind}`, compatibleAudio]),
]);

/** The media side of the host that a path belongs to, where it has one. */
export function mediaHostOf(path: string): MediaHost | undefined {
  const [, first = "", second = ""] = path.split("/");
  return MEDIA_HOSTS.get(first === "hosts" ? `hosts/${second}` : first);
}
