import { createHash } from "node:crypto";
import { ByteCache } from "./byte-cache.ts";
import { checkVideoOptions, type VideoOptions } from "./video-options.ts";
import type { VideoAnswer } from "./video-worker.ts";

const MAX_WAITING = 32;
const TIMEOUT_MS = 120_000;

/**
 * Where the thread's program is. A compiled program has one file for all modules, and no others: there the thread
 * runs that file, which sees that it is in a thread (src/main.ts).
 */
const THREAD = import.meta.path === Bun.main ? Bun.main : new URL("./video-worker.ts", import.meta.url);

const made = new ByteCache(64 * 1024 * 1024);
/** Videos that are being made or wait for their turn. */
const pending = new Map<string, Promise<Uint8Array>>();
let previous: Promise<unknown> = Promise.resolve();

function keyOf(options: VideoOptions): string {
  const hash = createHash("sha256");
  const { firstFrame, lastFrame, ...plain } = options;
  const lengths = [firstFrame?.length ?? -1, lastFrame?.length ?? -1];
  hash.update(JSON.stringify([Object.entries(plain).sort(([a], [b]) => (a < b ? -1 : 1)), lengths]));
  for (const image of [firstFrame, lastFrame]) if (image) hash.update(image);
  return hash.digest("hex");
}

/** After this much idleness the thread ends: the encoder's memory, which can only grow, is free again. */
const IDLE_MS = 2_000;
/** Videos of one thread. */
const MAX_USES = 32;

/** The thread that encodes. The first video in it takes several times as long as those that follow. */
let thread: { worker: Worker; uses: number } | undefined;
let idleTimer: ReturnType<typeof setTimeout> | undefined;

function endThread(): void {
  clearTimeout(idleTimer);
  thread?.worker.terminate();
  thread = undefined;
}

async function encode(options: VideoOptions): Promise<Uint8Array> {
  clearTimeout(idleTimer);
  thread ??= { worker: new Worker(THREAD), uses: 0 };
  const { worker } = thread;
  thread.uses++;
  worker.ref();
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  worker.onmessage = ({ data }: MessageEvent<VideoAnswer>) => {
    if ("video" in data) resolve(data.video);
    else reject(new Error(`no video could be made: ${data.problem}`));
  };
  worker.onerror = (event) => reject(new Error(`the video's thread broke: ${event.message}`));
  const timer = setTimeout(() => reject(new Error(`the video took longer than ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
  try {
    worker.postMessage(options);
    const video = await promise;
    if (thread.uses >= MAX_USES) endThread();
    return video;
  } catch (error) {
    endThread();
    throw error;
  } finally {
    clearTimeout(timer);
    // It keeps no program alive that has nothing else to do.
    worker.unref();
    if (thread) idleTimer = setTimeout(endThread, IDLE_MS).unref();
  }
}

/**
 * A real video, H.264 in MP4, that shows the request. The same options give the same bytes. One video is encoded at a time, off
 * the event loop.
 */
export async function makeVideo(options: VideoOptions): Promise<Uint8Array> {
  checkVideoOptions(options);
  const key = keyOf(options);
  const known = made.get(key);
  if (known) return known;
  let video = pending.get(key);
  if (!video) {
    if (pending.size >= MAX_WAITING) throw new Error(`${MAX_WAITING} videos are waiting already: ask again later`);
    video = previous.then(() => encode(options));
    pending.set(key, video);
    previous = video
      .then(
        (bytes) => made.keep(key, bytes),
        () => undefined,
      )
      .finally(() => pending.delete(key));
  }
  return (await video).slice();
}
