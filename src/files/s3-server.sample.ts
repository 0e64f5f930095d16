import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { findService } from "../../testing/is-present.ts";

interface TemporaryS3 {
  /** The usual environment variables. */
  environment: Record<string, string>;
  /** Uploads that were neither completed nor aborted. */
  openUploads(): Promise<number>;
  stop(): Promise<void>;
}

export const BUCKET = "trivium-files";
/** The default page size of a listing; a thousand with S3. */
export const PAGE = 50;

/** moto's server on a free port of loopback, with one empty bucket. Undefined if it is not installed. */
export async function startS3(): Promise<TemporaryS3 | undefined> {
  const program = findService("moto_server");
  if (!program) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "trivium-s3-"));
  const port = freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const child = Bun.spawn([program, "-H", "127.0.0.1", "-p", String(port)], {
    cwd: folder,
    env: { ...process.env, MOTO_S3_DEFAULT_MAX_KEYS: String(PAGE) },
    stdout: "ignore",
    stderr: "ignore",
  });
  const stop = async () => {
    child.kill();
    await child.exited;
    rmSync(folder, { recursive: true, force: true });
  };
  await eventually(`${program} to start`, () => {
    if (child.exitCode !== null) throw new Error(`${program} did not start.`);
    return makeBucket(endpoint);
  });
  return {
    environment: {
      S3_ENDPOINT: endpoint,
      S3_ACCESS_KEY_ID: "test",
      S3_SECRET_ACCESS_KEY: "test",
      S3_REGION: "us-east-1",
    },
    openUploads: async () => {
      const answer = await fetch(`${endpoint}/${BUCKET}?uploads`);
      return (await answer.text()).split("<UploadId>").length - 1;
    },
    stop,
  };
}

async function makeBucket(endpoint: string): Promise<boolean> {
  try {
    return (await fetch(`${endpoint}/${BUCKET}`, { method: "PUT" })).ok;
  } catch {
    // The port is not open yet.
    return false;
  }
}
