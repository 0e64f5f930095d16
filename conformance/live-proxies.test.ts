import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../testing/eventually.ts";
import { programsPresent } from "../testing/is-present.ts";
import { startRedis } from "../testing/redis.ts";
import { TEST_KEY } from "../testing/test-key.ts";
import { nginxPresent, startNginx } from "./support/nginx.ts";
import { bareEnvironment, TRIVIUM } from "./support/program.ts";
import { startTestGateway } from "./support/test-gateway.ts";

interface Event {
  type: string;
  setupComplete?: object;
  serverContent?: { turnComplete?: boolean };
  goAway?: object;
  response?: { id: string };
  error?: { code: string | null };
}

/** A WebSocket, and what arrives on it. */
class Socket {
  readonly events: Event[] = [];
  closed: number | undefined;
  opened = false;
  readonly #socket: WebSocket;
  #arrived = Promise.withResolvers<void>();

  constructor(url: string, key = TEST_KEY, path = "/v1/responses") {
    const headers = { authorization: `Bearer ${key}` };
    this.#socket = new WebSocket(url.replace("http", "ws") + path, { headers });
    this.#socket.onopen = () => {
      this.opened = true;
      this.#arrive();
    };
    this.#socket.onmessage = ({ data }) => {
      this.events.push(JSON.parse(String(data)) as Event);
      this.#arrive();
    };
    this.#socket.onclose = ({ code }) => {
      this.closed = code;
      this.#arrive();
    };
  }

  create(more: object = {}): void {
    const event = { type: "response.create", model: "sim/standard", input: "Hello", store: false, ...more };
    this.#socket.send(JSON.stringify(event));
  }

  say(event: object): void {
    this.#socket.send(JSON.stringify(event));
  }

  async until<Found>(find: () => Found | undefined): Promise<Found> {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await this.#arrived.promise;
    }
  }

  hears(type: string, after = 0): Promise<Event> {
    return this.until(() => this.events.slice(after).find((event) => event.type === type));
  }

  /** True when it is open, false when it was refused. */
  accepted(): Promise<boolean> {
    return this.until(() => (this.opened ? true : this.closed === undefined ? undefined : false));
  }

  close(): void {
    this.#socket.close();
  }

  /** One spoken turn of a Realtime session. */
  async converse(): Promise<void> {
    const from = this.events.length;
    const content = [{ type: "input_text", text: "Hello" }];
    this.say({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
    this.say({ type: "response.create" });
    await this.hears("response.output_audio.delta", from);
    await this.hears("response.done", from);
  }

  #arrive(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }
}

describe.skipIf(!nginxPresent("live connections behind nginx"))("decision 0115: behind nginx", () => {
  test("a conversation, and the shutdown of its gateway", async () => {
    const gateways = [
      await startTestGateway({ config: { simulator: true } }),
      await startTestGateway({ config: { simulator: true } }),
    ];
    const nginx = await startNginx(gateways.map(({ url }) => url));
    const sockets = [new Socket(nginx.url), new Socket(nginx.url)];
    for (const socket of sockets) {
      expect(await socket.accepted()).toBe(true);
      socket.create();
      const { response } = await socket.hears("response.completed");
      socket.create({ previous_response_id: response?.id });
      await socket.hears("response.completed", socket.events.length);
    }
    const refused = new Socket(nginx.url, "sk-trv-wrong");
    expect(await refused.accepted()).toBe(false);
    for (const gateway of gateways) await gateway.stop();
    for (const socket of sockets) {
      expect(await socket.hears("error")).toMatchObject({ error: { code: "draining" } });
      expect(await socket.until(() => socket.closed)).toBe(1001);
    }
    await nginx.stop();
  }, 30_000);
});

const REALTIME = "/v1/realtime?model=sim/realtime";
const LIVE = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

describe.skipIf(!nginxPresent("spoken sessions behind nginx"))("decision 0116: behind nginx", () => {
  test("a turn of Realtime and one of Live, and the shutdown of their gateway", async () => {
    const gateway = await startTestGateway({ config: { simulator: true, server: { drain_seconds: 20 } } });
    const nginx = await startNginx([gateway.url]);
    const realtime = new Socket(nginx.url, TEST_KEY, REALTIME);
    await realtime.hears("session.created");
    await realtime.converse();
    const live = new Socket(nginx.url, "", `${LIVE}?key=${TEST_KEY}`);
    expect(await live.accepted()).toBe(true);
    live.say({ setup: { model: "models/sim/live", generationConfig: { responseModalities: ["AUDIO"] } } });
    await live.until(() => live.events.find(({ setupComplete }) => setupComplete));
    live.say({ clientContent: { turns: [{ role: "user", parts: [{ text: "Hello" }] }], turnComplete: true } });
    await live.until(() => live.events.find(({ serverContent }) => serverContent?.turnComplete));
    const refused = new Socket(nginx.url, "sk-trv-wrong", REALTIME);
    expect(await refused.accepted()).toBe(false);
    await gateway.stop();
    expect(await realtime.hears("error")).toMatchObject({ error: { code: "draining" } });
    expect(await live.until(() => live.events.find(({ goAway }) => goAway))).toMatchObject({
      goAway: { timeLeft: "20s" },
    });
    for (const socket of [realtime, live]) expect(await socket.until(() => socket.closed)).toBe(1001);
    await nginx.stop();
  }, 30_000);
});

describe.skipIf(!programsPresent("spoken sessions of several instances", "redis-server"))(
  "H23: instances on one Redis",
  () => {
    test("limits.sessions holds for the Realtime sessions of both, and a place that is free again can be taken", async () => {
      const redis = await startRedis();
      const folder = mkdtempSync(join(tmpdir(), "trivium-live-shared-"));
      const storage = `sqlite:${join(folder, "trivium.db")}`;
      const keys = [{ name: "tests", key: TEST_KEY, limits: { sessions: 3 } }];
      const config = { simulator: true, storage, keys, redis: redis?.url };
      const gateways = [await startTestGateway({ config }), await startTestGateway({ config })];
      const open: Socket[] = [];
      let refused = 0;
      for (let tried = 0; tried < 6; tried++) {
        const socket = new Socket(gateways[tried % 2]?.url ?? "", TEST_KEY, REALTIME);
        if (await socket.accepted()) open.push(socket);
        else refused++;
      }
      expect({ open: open.length, refused }).toEqual({ open: 3, refused: 3 });
      for (const socket of open) await socket.converse();
      // It was at the first gateway.
      open.shift()?.close();
      const again = await eventually("a free session", async () => {
        const socket = new Socket(gateways[1]?.url ?? "", TEST_KEY, REALTIME);
        return (await socket.accepted()) ? socket : undefined;
      });
      await again.converse();
      for (const socket of [...open, again]) socket.close();
      for (const gateway of gateways) await gateway.stop();
      await redis?.stop();
      rmSync(folder, { recursive: true, force: true });
    }, 60_000);
  },
);

describe("decision 0115: with --workers", () => {
  const folder = mkdtempSync(join(tmpdir(), "trivium-live-"));
  const running = new Set<Bun.Subprocess>();
  afterAll(async () => {
    for (const program of running) {
      program.kill("SIGKILL");
      await program.exited;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  test("the limit of sessions holds for all workers together, and SIGTERM closes with 1001", async () => {
    const config = {
      server: { host: "127.0.0.1", port: 0, drain_seconds: 2 },
      admin: { host: "127.0.0.1", port: 0 },
      data_dir: folder,
      log: { level: "error" },
      keys: [{ name: "tests", key: TEST_KEY, limits: { sessions: 5 } }],
    };
    writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(config));
    const program = Bun.spawn([TRIVIUM, "serve", "--workers", "3", "--json"], {
      cwd: folder,
      env: bareEnvironment(),
      stdout: "pipe",
      stderr: "inherit",
    });
    running.add(program);
    let shown = "";
    const decoder = new TextDecoder();
    for await (const chunk of program.stdout) {
      shown += decoder.decode(chunk, { stream: true });
      if (shown.trimEnd().endsWith("\n}")) break;
    }
    const { url } = JSON.parse(shown) as { url: string };
    const open: Socket[] = [];
    let refused = 0;
    for (let tried = 0; tried < 9; tried++) {
      const socket = new Socket(url);
      if (await socket.accepted()) open.push(socket);
      else refused++;
    }
    expect({ open: open.length, refused }).toEqual({ open: 5, refused: 4 });
    for (const socket of open) socket.create();
    for (const socket of open) await socket.hears("response.completed");
    open.pop()?.close();
    const free = async () => {
      const socket = new Socket(url);
      return (await socket.accepted()) ? socket : undefined;
    };
    const again = await eventually("a free session", free);
    program.kill("SIGTERM");
    for (const socket of [...open, again]) expect(await socket.until(() => socket.closed)).toBe(1001);
    await program.exited;
  }, 60_000);
});
