import type { Protocol } from "./request.ts";

/** The content of a response, or of a part of one. */
export interface PlayContent {
  text: string;
  thinking: string;
  /** Image URLs that this page is allowed to load. */
  images: string[];
}

const NOTHING: PlayContent = { text: "", thinking: "", images: [] };

type Tree = { readonly [name: string]: Tree | undefined } & { readonly [at: number]: Tree | undefined };

/** The value at a path of untrusted JSON. */
function at(value: unknown, ...path: (string | number)[]): unknown {
  let found: unknown = value;
  for (const step of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Tree)[step as string];
  }
  return found;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function genaiParts(value: unknown): PlayContent {
  const parts = list(at(value, "candidates", 0, "content", "parts"));
  return {
    text: parts.map((part) => (at(part, "thought") === true ? "" : text(at(part, "text")))).join(""),
    thinking: parts.map((part) => (at(part, "thought") === true ? text(at(part, "text")) : "")).join(""),
    images: parts.flatMap((part) => {
      const data = text(at(part, "inlineData", "data"));
      return data === "" ? [] : [`data:${text(at(part, "inlineData", "mimeType"))};base64,${data}`];
    }),
  };
}

/** Reads one event of a stream. */
export function readEvent(protocol: Protocol, event: unknown): PlayContent {
  switch (protocol) {
    case "chat": {
      const delta = at(event, "choices", 0, "delta");
      return {
        ...NOTHING,
        text: text(at(delta, "content")),
        thinking: text(at(delta, "reasoning_content")) || text(at(delta, "reasoning")),
      };
    }
    case "messages": {
      const delta = at(event, "delta");
      return { ...NOTHING, text: text(at(delta, "text")), thinking: text(at(delta, "thinking")) };
    }
    case "responses": {
      const type = text(at(event, "type"));
      const delta = text(at(event, "delta"));
      if (type === "response.output_text.delta") return { ...NOTHING, text: delta };
      return type.startsWith("response.reasoning") ? { ...NOTHING, thinking: delta } : NOTHING;
    }
    case "interactions": {
      const delta = at(event, "delta");
      return { ...NOTHING, text: text(at(delta, "text")), thinking: text(at(delta, "content", "text")) };
    }
    case "genai":
      return genaiParts(event);
    default:
      return NOTHING;
  }
}

/** The URL by which this page can load a file of the gateway. */
export function ownFile(address: string): string {
  const path = /^https?:\/\/[^/]+(\/files\/.*)$/.exec(address)?.[1];
  return path === undefined ? address : `/api/play?path=${encodeURIComponent(path)}`;
}

function imagesOf(answer: unknown): string[] {
  return list(at(answer, "data")).flatMap((item) => {
    const base64 = text(at(item, "b64_json"));
    if (base64 !== "") return [`data:image/${text(at(answer, "output_format")) || "png"};base64,${base64}`];
    const url = text(at(item, "url"));
    return url === "" ? [] : [ownFile(url)];
  });
}

const blocks = (value: unknown, kind: string, field: string): string =>
  list(value)
    .filter((block) => at(block, "type") === kind)
    .map((block) => text(at(block, field)))
    .join("");

/** Reads a complete response. Responses without text are shown as JSON. */
export function readAnswer(protocol: Protocol, answer: unknown): PlayContent {
  switch (protocol) {
    case "chat": {
      const message = at(answer, "choices", 0, "message");
      return { ...NOTHING, text: text(at(message, "content")), thinking: text(at(message, "reasoning_content")) };
    }
    case "messages":
      return {
        ...NOTHING,
        text: blocks(at(answer, "content"), "text", "text"),
        thinking: blocks(at(answer, "content"), "thinking", "thinking"),
      };
    case "responses":
      return {
        ...NOTHING,
        text: list(at(answer, "output"))
          .map((item) => blocks(at(item, "content"), "output_text", "text"))
          .join(""),
      };
    case "interactions":
      return {
        ...NOTHING,
        text: list(at(answer, "steps"))
          .map((step) => blocks(at(step, "content"), "text", "text"))
          .join(""),
        thinking: list(at(answer, "steps"))
          .map((step) => blocks(at(step, "summary"), "text", "text"))
          .join(""),
      };
    case "genai":
      return genaiParts(answer);
    case "images":
      return { ...NOTHING, images: imagesOf(answer) };
    default:
      return { ...NOTHING, text: JSON.stringify(answer, undefined, 2) };
  }
}

/** Reads the progress or the result of a video operation. */
export function readOperation(operation: unknown): {
  done: boolean;
  progress: number | undefined;
  error: string;
  videos: string[];
} {
  const progress = at(operation, "metadata", "progressPercent") ?? at(operation, "metadata", "progress");
  return {
    done: at(operation, "done") === true,
    progress: typeof progress === "number" ? progress : undefined,
    error: text(at(operation, "error", "message")),
    videos: list(at(operation, "response", "videos")).map((video) => ownFile(text(at(video, "gcsUri")))),
  };
}

/** The message of an error in any protocol. */
export const failureText = (answer: unknown): string =>
  text(at(answer, "error", "message")) || text(at(answer, "message")) || JSON.stringify(answer);

/** Splits a stream into events. An incomplete event is kept for the next piece. */
export class EventLines {
  #rest = "";

  /** The data of each complete event. */
  read(piece: string): string[] {
    const lines = (this.#rest + piece).split(/\r?\n/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trim()] : []));
  }
}
