import type { MediaHost } from "./host.ts";
import { baiduMedia } from "./wires/baidu/host.ts";
import { blackForestLabsMedia } from "./wires/black-forest-labs/host.ts";
import { geminiMedia, vertexMedia } from "./wires/google/host.ts";
import { hunyuanMedia } from "./wires/hunyuan/host.ts";
import { klingMedia } from "./wires/kling/host.ts";
import { lumaMedia } from "./wires/luma/host.ts";
import { minimaxMedia } from "./wires/minimax/host.ts";
import { azureMedia, openaiMedia } from "./wires/openai/host.ts";
import { qwenMedia } from "./wires/qwen/host.ts";
import { runwayMedia } from "./wires/runway/host.ts";
import { volcengineMedia } from "./wires/volcengine/host.ts";
import { xAiMedia } from "./wires/x-ai/host.ts";
import { zAiMedia } from "./wires/z-ai/host.ts";

/** The vendors that make pictures or films, by the first segments of their addresses here. */
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
]);

/** The media side of the host that a path belongs to, where it has one. */
export function mediaHostOf(path: string): MediaHost | undefined {
  const [, first = "", second = ""] = path.split("/");
  return MEDIA_HOSTS.get(first === "hosts" ? `hosts/${second}` : first);
}
