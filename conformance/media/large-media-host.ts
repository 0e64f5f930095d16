import { drawImage } from "../../simulator/media-maker/draw-image.ts";

export interface LargeMediaHost {
  url: string;
  /** The image in every response. */
  image: Uint8Array;
  videoBytes: number;
  /** Bytes of the forms that have arrived. */
  uploadedBytes: number;
  /** Holds all responses until this many calls have arrived completely: only then is everything in flight at once. */
  awaitCalls(calls: number): void;
  stop(): Promise<void>;
}

const VIDEO_CHUNK = new Uint8Array(1024 * 1024);

/** An upstream with large images and videos. It speaks one host's protocol, and holds each response's bytes once. */
export async function startLargeMediaHost(imageBytes: number, videoBytes: number): Promise<LargeMediaHost> {
  const image = new Uint8Array(imageBytes);
  crypto.getRandomValues(image.subarray(imageBytes - 32_768));
  // A complete image, followed by filler up to the size: readers stop at the image's end.
  const drawn = await drawImage({ prompt: "large", width: 64, height: 64, seed: 1, format: "png" });
  image.set(drawn);
  const large = Buffer.from(imagesAnswer(image));
  const small = imagesAnswer(drawn);
  let jobs = 0;
  let gate = openGate(1);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: 256 * 1024 * 1024,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/content"))
        return new Response(video(videoBytes), { headers: { "content-type": "video/mp4" } });
      if (pathname.startsWith("/v1/videos/"))
        return Response.json(job(pathname.slice("/v1/videos/".length), "completed"));
      let size = 0;
      for await (const chunk of request.body ?? []) size += chunk.length;
      if (pathname === "/v1/videos") return Response.json(job(`video_${++jobs}`, "queued"));
      await gate();
      if (pathname !== "/v1/images/edits") return new Response(large, JSON_TYPE);
      host.uploadedBytes += size;
      return new Response(small, JSON_TYPE);
    },
  });
  const host: LargeMediaHost = {
    url: `http://127.0.0.1:${server.port}/v1`,
    image,
    videoBytes,
    uploadedBytes: 0,
    awaitCalls: (calls) => {
      gate = openGate(calls);
    },
    stop: () => server.stop(true),
  };
  return host;
}

const JSON_TYPE = { headers: { "content-type": "application/json" } };

const imagesAnswer = (image: Uint8Array): string =>
  JSON.stringify({
    created: 1,
    data: [{ b64_json: Buffer.from(image).toString("base64") }],
    usage: { input_tokens: 10, output_tokens: 100, total_tokens: 110 },
  });

const job = (id: string, status: string) => ({ id, object: "video", status, seconds: "4", size: "1280x720" });

/** A barrier that opens for all when the last of them has arrived. */
function openGate(calls: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  return () => {
    if (++waiting >= calls) resolve();
    return promise;
  };
}

/** One chunk after the other, on demand. */
function video(size: number): ReadableStream<Uint8Array> {
  let left = size;
  return new ReadableStream({
    type: "bytes",
    pull: (controller) => {
      const chunk = VIDEO_CHUNK.slice(0, Math.min(left, VIDEO_CHUNK.length));
      left -= chunk.length;
      controller.enqueue(chunk);
      if (left === 0) controller.close();
    },
  });
}
