import { change, session } from "../api/client.ts";
import type { CreatedKey } from "../api/types.ts";
import { EventLines, failureText, type PlayContent, readAnswer, readEvent, readOperation } from "./answer.ts";
import { type PlayRequest, type Protocol, pollOf } from "./request.ts";

/** The state of a call while it runs and after it ends. */
export interface Progress extends PlayContent {
  state: "running" | "done" | "failed" | "stopped";
  error: string;
  /** The raw events, or the raw response. */
  raw: string[];
  receipt: string | undefined;
  firstMs: number | undefined;
  totalMs: number | undefined;
  /** Progress of a video. */
  percent: number | undefined;
  videos: string[];
  sound: string | undefined;
}

const KEY_MS = 10 * 60_000;
/** Shorter than the lifetime of the key, because a key that expires during a call would abort it. */
const USED_MS = 8 * 60_000;
const BUDGET_USD = 1;
let own: { key: string; untilMs: number } | undefined;

/** Creates a key that expires in ten minutes and has a budget, which bounds what the playground can spend. */
async function temporaryKey(): Promise<string> {
  if (own !== undefined && Date.now() < own.untilMs) return own.key;
  const nowMs = Date.now();
  const { data } = await change<{ data: CreatedKey }>("POST", "/api/keys", {
    name: "console",
    expires_at: new Date(nowMs + KEY_MS).toISOString(),
    limits: { budget_usd_total: BUDGET_USD },
  });
  own = { key: data.key, untilMs: nowMs + USED_MS };
  return data.key;
}

/** The operator's own key, else a temporary one. */
export const keyFor = async (own: string): Promise<string> => own || temporaryKey();

const EMPTY: Progress = {
  state: "running",
  error: "",
  raw: [],
  receipt: undefined,
  firstMs: undefined,
  totalMs: undefined,
  percent: undefined,
  videos: [],
  sound: undefined,
  text: "",
  thinking: "",
  images: [],
};

const MAX_EVENTS = 2_000;

interface Sending {
  protocol: Protocol;
  model: string;
  request: PlayRequest;
  /** The operator's key; if empty, a temporary key is created. */
  key: string;
  signal: AbortSignal;
  onProgress: (progress: Progress) => void;
}

/** Sends a request as a client would, and reports progress. */
export async function play(sending: Sending): Promise<void> {
  const { signal, onProgress } = sending;
  const startMs = performance.now();
  let progress: Progress = { ...EMPTY };
  const update = (changes: Partial<Progress>) => {
    progress = { ...progress, ...changes, totalMs: performance.now() - startMs };
    onProgress(progress);
  };
  const append = ({ text, thinking, images }: PlayContent) => {
    const isFirst = progress.firstMs === undefined && (text !== "" || thinking !== "" || images.length > 0);
    update({
      text: progress.text + text,
      thinking: progress.thinking + thinking,
      images: [...progress.images, ...images],
      ...(isFirst ? { firstMs: performance.now() - startMs } : {}),
    });
  };
  try {
    onProgress(progress);
    const key = await keyFor(sending.key);
    const response = await post(sending.request, key, signal);
    update({ receipt: response.headers.get("x-trivium-receipt") ?? undefined });
    if (!response.ok) {
      const text = await response.text();
      update({ state: "failed", raw: [text], error: `${response.status}: ${failureText(parsed(text))}` });
      return;
    }
    const type = response.headers.get("content-type") ?? "";
    if (type.startsWith("text/event-stream"))
      await readStream(response, sending.protocol, append, (event) => {
        if (progress.raw.length < MAX_EVENTS) update({ raw: [...progress.raw, event] });
      });
    else if (type.startsWith("audio/")) update({ sound: URL.createObjectURL(await response.blob()) });
    else {
      const text = await response.text();
      update({ raw: [text] });
      if (sending.protocol === "video") await awaitVideo(sending, key, parsed(text), update);
      else append(readAnswer(sending.protocol, parsed(text)));
    }
    update({ state: progress.error === "" ? "done" : "failed" });
  } catch (thrown) {
    if (signal.aborted) update({ state: "stopped" });
    else update({ state: "failed", error: thrown instanceof Error ? thrown.message : String(thrown) });
  }
}

export const post = ({ path, headers = {}, body }: PlayRequest, key: string, signal: AbortSignal): Promise<Response> =>
  fetch(`/api/play?path=${encodeURIComponent(path)}`, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      "x-trivium-csrf": session.value?.csrf ?? "",
      "x-trivium-play-key": key,
    },
    body: JSON.stringify(body),
    signal,
  });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { message: text.slice(0, 1_000) };
  }
}

async function readStream(
  response: Response,
  protocol: Protocol,
  append: (content: PlayContent) => void,
  keep: (event: string) => void,
): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const lines = new EventLines();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return;
    for (const data of lines.read(value)) {
      keep(data);
      if (data !== "[DONE]") append(readEvent(protocol, parsed(data)));
    }
  }
}

const POLL_MS = 1_000;

async function awaitVideo(
  { model, signal }: Sending,
  key: string,
  submitted: unknown,
  update: (changes: Partial<Progress>) => void,
): Promise<void> {
  const name = String((submitted as { name?: unknown }).name ?? "");
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const text = await (await post(pollOf(model, name), key, signal)).text();
    const { done, progress, error, videos } = readOperation(parsed(text));
    update({ percent: progress, raw: [text] });
    if (!done) continue;
    update({ error, videos });
    return;
  }
}
