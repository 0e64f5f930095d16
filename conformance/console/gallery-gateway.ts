import { join } from "node:path";
import { fillReceipts } from "../../bench/fill-receipts.ts";
import { system } from "../../src/base/system.ts";
import { openStorage } from "../../src/storage/open.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import { startSeeded } from "./seeded-gateway.ts";

export type GalleryData = "empty" | "team" | "million";

export interface GalleryGateway {
  /** The URL of the console. */
  url: string;
  link: string;
  /** What the pages of one thing show; undefined if there is none. */
  call?: string | undefined;
  key?: string | undefined;
  provider?: string | undefined;
  batch?: string | undefined;
  stop(): Promise<void>;
}

const DAY_MS = 86_400_000;

/** A gateway with the data that the pictures show. */
export async function startGalleryGateway(data: GalleryData, calls: number): Promise<GalleryGateway> {
  if (data === "team") {
    const seeded = await startSeeded();
    return { ...seeded, call: seeded.retried, key: seeded.key, provider: "anthropic" };
  }
  const gateway = await startTestGateway({ config: { simulator: true } });
  const empty = { url: gateway.adminUrl, link: gateway.app.consoleUrl, stop: () => gateway.stop() };
  if (data === "empty") return empty;
  const storage = await openStorage(`sqlite:${join(gateway.folder, "data/trivium.db")}`, system.clock);
  const toMs = Date.now();
  await fillReceipts(storage, { rows: calls, fromMs: toMs - 30 * DAY_MS, toMs });
  const [last] = await storage.query("SELECT MAX(id) AS id FROM receipts");
  await storage.close();
  return { ...empty, call: String(last?.["id"]) };
}
