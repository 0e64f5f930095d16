import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programsPresent } from "../../testing/is-present.ts";
import { startRedis } from "../../testing/redis.ts";
import { auditVideos, awaitNothingOpen } from "../media/audit-videos.ts";
import { bundleGateway, type CrashHarness, startCrashHarness, VIDEO_MODELS } from "../media/crash-harness.ts";
import { orderVideos, type VideoOutcome } from "../media/video-client.ts";
import { timed, until } from "../support/fault-harness.ts";
import { faultTable, seconds } from "../support/fault-table.ts";

/** Longer than the lease of an operation in these gateways. */
const FROZEN_MS = 1_500;
const JOB_MS = 800;
const record = faultTable();
const redis = programsPresent("a frozen poller next to another", "redis-server") ? await startRedis() : undefined;
const folder = mkdtempSync(join(tmpdir(), "trivium-poller-"));
const program = await bundleGateway(folder);
afterAll(async () => {
  await redis?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Submits a video of each host to the first gateway, freezes it while it polls, and requests the videos from the last
 * one.
 */
async function freezeWhilePolling(harness: CrashHarness): Promise<{ ended: Promise<VideoOutcome[]> }> {
  const { slots } = harness;
  let submitted = 0;
  const orders = VIDEO_MODELS.map((video, number) => {
    let asked = 0;
    return orderVideos({ number, video, count: 1 }, () => {
      if (asked++ === 0) return slots[0]?.url ?? "";
      if (asked === 2) submitted++;
      return slots.at(-1)?.url ?? "";
    });
  });
  await until("each is submitted", async () => submitted === orders.length);
  await harness.moment("question");
  slots[0]?.freeze();
  return { ended: Promise.all(orders) };
}

async function audit(harness: CrashHarness, outcomes: VideoOutcome[]): Promise<void> {
  await awaitNothingOpen(harness.storage);
  for (const slot of harness.slots) await slot.close();
  const { operations, failed, jobs } = await auditVideos(harness, outcomes);
  expect({ operations, failed, jobs }).toEqual({
    operations: VIDEO_MODELS.length,
    failed: 0,
    jobs: VIDEO_MODELS.length,
  });
}

test("H29, H24: a gateway frozen while polling continues where it was, without Redis, and bills once", async () => {
  const harness = await startCrashHarness({ gateways: 1, jobMs: JOB_MS, program, mayDie: false });
  try {
    const { ended } = await freezeWhilePolling(harness);
    await Bun.sleep(FROZEN_MS);
    harness.slots[0]?.thaw();
    const [outcomes, ms] = await timed(ended);
    await audit(harness, outcomes);
    record({
      fault: `gateway frozen for ${seconds(FROZEN_MS)} while it polls videos`,
      calls: "wait",
      revocations: "-",
      readiness: "-",
      shutdown: "-",
      recovery: `${seconds(ms)}, ${outcomes.length} of ${VIDEO_MODELS.length} videos, each billed once`,
    });
  } finally {
    await harness.close();
  }
});

test.skipIf(redis === undefined)(
  "H29, H24: another gateway takes over from one frozen while polling, and neither bills twice",
  async () => {
    const harness = await startCrashHarness({
      gateways: 2,
      jobMs: JOB_MS,
      redis: redis?.url ?? "",
      program,
      mayDie: false,
    });
    try {
      const { ended } = await freezeWhilePolling(harness);
      const [outcomes, ms] = await timed(ended);
      harness.slots[0]?.thaw();
      await Bun.sleep(FROZEN_MS);
      await audit(harness, outcomes);
      record({
        fault: "one of two gateways frozen while it polls (lease 1 s here)",
        calls: "answered by the other",
        revocations: "-",
        readiness: "-",
        shutdown: "-",
        recovery: `${seconds(ms)} from its beginning, ${outcomes.length} of ${VIDEO_MODELS.length} videos, each billed once`,
      });
    } finally {
      await harness.close();
    }
  },
);
