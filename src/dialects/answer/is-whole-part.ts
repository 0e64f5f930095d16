import type { WholePart } from "../../canon/event.ts";
import type { ReplyPart } from "../../canon/reply.ts";

/** Whether a part of a response is reported in one step. */
export const isWholePart = (part: ReplyPart): part is WholePart =>
  part.type === "media" ||
  part.type === "native" ||
  part.type === "server-tool-call" ||
  part.type === "server-tool-result";
