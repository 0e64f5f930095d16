import { expect, test } from "bun:test";
import { MemoryVideos } from "../../../testing/memory-videos.ts";

test("choices 5: an operation fails three hours after its request, even if its provider is still working", async () => {
  const videos = await MemoryVideos.start({ polls: false });
  videos.host.stateOf = () => ({ state: "running" });
  await videos.clock.pass(0.4);
  const submitted = await videos.submit();
  const { createdAtMs, deadlineAtMs, dueAtMs, project, keyId, receiptId } = await videos.stored(submitted.id);
  expect(receiptId).toMatch(/^rcp_[0-9a-z]{9}0*\d+$/);
  expect(deadlineAtMs - Math.round(createdAtMs)).toBe(3 * 3_600_000);
  // Whole numbers are what every storage has columns for.
  expect([deadlineAtMs, dueAtMs].map(Number.isInteger)).toEqual([true, true]);
  expect([project, keyId]).toEqual(["default", "static:tests"]);
  // No test polls for three hours to see that it has not ended before.
  await videos.clock.pass(deadlineAtMs - videos.clock.nowMs() - 1_000);
  videos.harness.poller.start();
  await videos.clock.pass(500);
  expect((await videos.stored(submitted.id)).state).toBe("running");
  const operation = await videos.ended(submitted.id);
  expect(operation).toMatchObject({
    state: "failed",
    error: { kind: "upstream_timeout", message: "The provider took too long." },
  });
  expect((operation.endedAtMs ?? 0) - deadlineAtMs).toBeWithin(0, 2_001);
  expect((await videos.harness.receipt(submitted)).cost_nano_usd).toBe(0);
});
