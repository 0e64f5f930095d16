import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TEST_KEY } from "../testing/test-key.ts";
import { nginxPresent, startNginx } from "./support/nginx.ts";
import { bareEnvironment, TRIVIUM } from "./support/program.ts";
import { startTestGateway } from "./support/test-gateway.ts";

interface Event {
  type: string;
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

  constructor(url: string, key = TEST_KEY) {
    const headers = { authorization: `Bearer ${key}` };
    this.#socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, { headers });
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
  });
});

describe("decision 0115: with --workers", () => {
  const folder = mkdtempSync(join(tmpdir(), "trivium-live-"));
  const running = new Set<Bun.Subprocess>();
  afterAll(async () => {
    for (const program of running) {
      program.kill("SIGKILL");
      await program.exited;
    }
    await Bun.sleep(500);
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
    let again: Socket | undefined;
    for (const untilMs = Date.now() + 10_000; again === undefined && Date.now() < untilMs; await Bun.sleep(100))
      again = await free();
    expect(again).toBeDefined();
    program.kill("SIGTERM");
    for (const socket of [...open, again]) expect(await socket?.until(() => socket.closed)).toBe(1001);
    await program.exited;
  }, 60_000);
});
