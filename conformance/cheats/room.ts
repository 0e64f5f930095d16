import { Database } from "bun:sqlite";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DIALECTS } from "../../testing/build-call.ts";
import { eventually } from "../../testing/eventually.ts";
import { plainAnswer, plainUsage } from "../../testing/plain-answer.ts";
import { SCRIPTED_DIALECTS } from "../../testing/sampled-dialects.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { callGateway } from "../support/client-calls.ts";
import { childrenOf, isAlive, listeningAt, TRIVIUM } from "../support/program.ts";
import { type ScriptedUpstream, sendJson, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";
import type { Cheat, CheatGroup, Outcome } from "./cheat.ts";

const MB = 1024 ** 2;
/** In blocks of 512 bytes: a little more than the tables of a database need. */
const FILE_LIMIT = 3_072;
/** What `scriptedModels` asks for one answer. */
const PRICE = 20_000;

/** S27, S26, M6: bytes that no share has room for, URLs that outlive their key, and calls that nobody can write down. */
export async function openRoom(): Promise<CheatGroup> {
  const upstream = await startScriptedUpstream();
  upstream.play(({ path }, response) => {
    const dialect = SCRIPTED_DIALECTS.find((name) => path.includes(`/${name}`)) ?? "genai";
    sendJson(response, plainAnswer(dialect, { text: "Hello", usage: plainUsage(dialect, 10, 5) }));
  });
  const folder = mkdtempSync(join(tmpdir(), "trivium-room-"));
  const gateway = await Program.start(upstream, folder, 1);
  return {
    cheats: [...uploads(gateway), ...urls(gateway), ...unwritten(upstream)],
    close: async () => {
      gateway.kill();
      await upstream.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The whole program in a folder. */
class Program {
  readonly folder: string;
  readonly url: string;
  readonly adminUrl: string;
  readonly #pids: readonly number[];

  private constructor(folder: string, { url, adminUrl }: { url: string; adminUrl: string }, pids: readonly number[]) {
    this.folder = folder;
    this.url = url;
    this.adminUrl = adminUrl;
    this.#pids = pids;
  }

  /** `limit`: no file can be larger. */
  static async start(upstream: ScriptedUpstream, folder: string, workers: number, limit?: number): Promise<Program> {
    const configuration = {
      server: { port: 0, workers },
      admin: { port: 0, secret: TEST_ADMIN_SECRET },
      simulator: false,
      log: { calls: "off" },
      objects: { project_mb: 1, max_file_mb: 512 },
      keys: [{ name: "tests", key: TEST_KEY }],
      ...scriptedModels(upstream.url),
    };
    writeFileSync(join(folder, "trivium.yaml"), JSON.stringify(configuration));
    const limited = limit === undefined ? "" : `trap '' XFSZ; ulimit -S -f ${limit}; `;
    const child = Bun.spawn(["sh", "-c", `${limited}exec "$0" serve`, TRIVIUM], {
      cwd: folder,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    const addresses = await listeningAt(child.stdout);
    return new Program(folder, addresses, [child.pid, ...childrenOf(child.pid)]);
  }

  kill(): void {
    Bun.spawnSync(["kill", "-9", ...this.#pids.map(String)], { stderr: "ignore" });
  }

  async killed(): Promise<void> {
    this.kill();
    await eventually("its end", () => !this.#pids.some(isAlive));
  }

  async admin(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${TEST_ADMIN_SECRET}`, "content-type": "application/json" };
    const answer = await fetch(this.adminUrl + path, { method, headers, body: body ? JSON.stringify(body) : null });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { data: Record<string, unknown> }).data;
  }

  /** The bytes of uploaded files on the disk. */
  uploaded(): number {
    const files = join(this.folder, "data", "files");
    const names = readdirSync(files).filter((name) => name.startsWith("file"));
    return names.reduce((sum, name) => sum + (statSync(join(files, name), NO_THROW)?.size ?? 0), 0);
  }
}

const NO_THROW = { throwIfNoEntry: false } as const;

/** The most bytes that were on the disk at a time meanwhile. */
async function mostUploaded(gateway: Program, meanwhile: Promise<unknown>): Promise<number> {
  let most = 0;
  let over = false;
  const end = () => {
    over = true;
  };
  meanwhile.then(end, end);
  while (!over) {
    most = Math.max(most, gateway.uploaded());
    await Bun.sleep(1);
  }
  return Math.max(most, gateway.uploaded());
}

function uploads(gateway: Program): Cheat[] {
  const send = async (declared: boolean): Promise<number> => {
    const head = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';
    const tail = '\r\n--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n--x--\r\n';
    const bytes = Buffer.concat([Buffer.from(head), Buffer.alloc(64 * MB, 65), Buffer.from(tail)]);
    const headers = { authorization: `Bearer ${TEST_KEY}`, "content-type": "multipart/form-data; boundary=x" };
    const body = declared ? bytes : new Blob([bytes]).stream();
    return await fetch(`${gateway.url}/v1/files`, { method: "POST", headers, body }).then(
      ({ status }) => status,
      // The gateway does not read it to its end.
      () => 0,
    );
  };
  const cheat = (tries: string, most: number, work: () => Promise<number[]>): Cheat => ({
    id: "S27",
    tries,
    run: async (): Promise<Outcome> => {
      const sending = work();
      const [seen, statuses] = await Promise.all([mostUploaded(gateway, sending), sending]);
      const figures = `${(seen / MB).toFixed(1)} MB on the disk at most`;
      const got = [...new Set(statuses)].join(", ");
      if (statuses.includes(200)) return { got, figures, broken: "a file over the share was taken" };
      if (gateway.uploaded() > 0) return { got, figures, broken: "bytes were left on the disk" };
      return seen > most ? { got, figures, broken: "bytes over the share were written" } : { got, figures };
    },
  });
  const many = (count: number, declared: boolean) => Promise.all(Array.from({ length: count }, () => send(declared)));
  return [
    cheat("64 MB with its length, for a share of 1 MB", 0, () => many(1, true)),
    cheat("64 MB without a length, for a share of 1 MB", MB, () => many(1, false)),
    cheat("eight times 64 MB without a length at the same time", MB, () => many(8, false)),
  ];
}

function urls(gateway: Program): Cheat[] {
  const ends: Record<string, (id: string, project: string) => Promise<unknown>> = {
    "is revoked": (id) => gateway.admin("DELETE", `/api/keys/${id}`),
    "is suspended with its project": (_, project) =>
      gateway.admin("PATCH", `/api/projects/${project}`, { status: "suspended" }),
    "may be used from another network only": (id) =>
      gateway.admin("PATCH", `/api/keys/${id}`, { networks: ["10.99.0.0/16"] }),
  };
  return Object.entries(ends).map(([end, play], index) => ({
    id: "S26",
    tries: `the URL of an upload after its key ${end}`,
    run: async (): Promise<Outcome> => {
      const project = `room-${index}`;
      await gateway.admin("POST", "/api/projects", { id: project });
      const { id, key } = (await gateway.admin("POST", "/api/keys", { name: project, project })) as Record<
        string,
        string
      >;
      const begun = await fetch(`${gateway.url}/upload/v1beta/files`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          "x-goog-upload-protocol": "resumable",
          "x-goog-upload-command": "start",
          "x-goog-upload-header-content-length": "1000",
          "x-goog-upload-header-content-type": "text/plain",
        },
      });
      const url = begun.headers.get("x-goog-upload-url") ?? "";
      const use = () =>
        fetch(url, { method: "POST", headers: { "x-goog-upload-command": "query" } }).then(({ status }) => status);
      const before = await use();
      if (before !== 200) return { got: String(before), broken: "the URL does not work at all" };
      await play(id ?? "", project);
      const headers = { "x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0" };
      const { status } = await fetch(url, { method: "POST", headers, body: "x".repeat(1000) });
      const got = `${status}, ${await use()}`;
      return status < 400 ? { got, broken: "the URL outlives its key" } : { got };
    },
  }));
}

/** The provider is paid for every call that it got: each has a receipt, also after `kill -9`. */
function unwritten(upstream: ScriptedUpstream): Cheat[] {
  return [1, 2].map((workers) => ({
    id: "disk",
    tries: `calls of ${workers === 1 ? "one process" : "two workers"} on a disk that is full, then kill -9`,
    run: async (): Promise<Outcome> => {
      const folder = mkdtempSync(join(tmpdir(), "trivium-room-"));
      const before = upstream.seen.length;
      const full = await Program.start(upstream, folder, workers, FILE_LIMIT);
      let refused = 0;
      const call = async (dialect: (typeof DIALECTS)[number]) => {
        const answer = await callGateway(full.url, dialect, TEST_KEY, {});
        await answer.text();
        if (answer.status !== 200) refused += 1;
      };
      while (refused < 40) await Promise.all(DIALECTS.flatMap((dialect) => [call(dialect), call(dialect)]));
      await full.killed();
      const asked = upstream.seen.length - before;
      const later = await Program.start(upstream, folder, 1);
      await later.killed();
      const database = new Database(join(folder, "data", "trivium.db"), { readonly: true });
      const { cost } = database
        .query<{ cost: number }, []>("SELECT SUM(cost_nano_usd) AS cost FROM receipts")
        .get() ?? {
        cost: 0,
      };
      database.close();
      rmSync(folder, { recursive: true, force: true });
      return { got: `${asked} answers, ${refused} refused`, upstream: asked * PRICE, ledger: cost };
    },
  }));
}
