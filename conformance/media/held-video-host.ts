export interface HeldVideoHost {
  url: string;
  /** Jobs that were accepted. */
  taken(): number;
  /** Submits that wait for their response. */
  waiting(): number;
  /** The credentials of all polls, in order. */
  asked: string[];
  /** Makes submits wait until they are released. */
  hold(): void;
  release(): void;
  /** From now on every job is done, or none is. */
  finish(done: boolean): void;
  stop(): Promise<void>;
}

const TASKS = "/contents/generations/tasks";
const VIDEO = new Uint8Array(2_000).fill(7);

/** A host of videos that the test controls step by step; it speaks the protocol of Volcengine's tasks. */
export function startHeldVideoHost(): HeldVideoHost {
  const asked: string[] = [];
  let taken = 0;
  let waiting = 0;
  let done = false;
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request): Promise<Response> {
      const { pathname } = new URL(request.url);
      if (pathname === "/video.mp4") return new Response(VIDEO, { headers: { "content-type": "video/mp4" } });
      if (request.method === "POST") {
        waiting += 1;
        await gate.promise;
        waiting -= 1;
        taken += 1;
        return Response.json({ id: `job-${taken}` });
      }
      asked.push(request.headers.get("authorization") ?? "");
      const id = pathname.slice(TASKS.length + 1);
      if (!done) return Response.json({ id, status: "running" });
      return Response.json({ id, status: "succeeded", content: { video_url: `${server.url.origin}/video.mp4` } });
    },
  });
  return {
    url: server.url.origin,
    taken: () => taken,
    waiting: () => waiting,
    asked,
    hold: () => {
      gate = Promise.withResolvers<void>();
    },
    release: () => gate.resolve(),
    finish: (isDone) => {
      done = isDone;
    },
    stop: () => server.stop(true),
  };
}
