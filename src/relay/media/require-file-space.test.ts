import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../canon/error.ts";
import type { FittedVideoCall } from "../../media/video-call.ts";
import type { Gateway } from "../gateway.ts";
import { expectedVideoBytes, requireFileSpace } from "./require-file-space.ts";

describe("decision 0019: the space that a video may take", () => {
  const of = (seconds: number, count: number, resolution: string) =>
    expectedVideoBytes({ seconds, count, resolution, audio: false, extras: {} } satisfies FittedVideoCall);

  test("grows with its length, its number, and beyond 768 lines", () => {
    expect(of(4, 1, "720p")).toBe(4_000_000);
    expect(of(4, 3, "768p")).toBe(12_000_000);
    expect(of(4, 1, "1080p")).toBe(16_000_000);
    expect(of(4, 2, "4k")).toBe(32_000_000);
  });
});

describe("a call whose result could not be stored", () => {
  async function refusedBy(error: Error) {
    const logged: string[] = [];
    const asked: unknown[] = [];
    const gateway = {
      clock: { nowMs: () => 7 },
      log: { error: (facts: object, message: string) => logged.push(`${JSON.stringify(facts)} ${message}`) },
      files: {
        requireSpace: async (...given: unknown[]) => {
          asked.push(given);
          throw error;
        },
      },
    } as unknown as Gateway;
    const thrown: unknown = await requireFileSpace(gateway, "red", 12).catch((one: unknown) => one);
    return { thrown, logged, asked };
  }

  test("is rejected, and the log tells the operator what to do", async () => {
    const full = new GatewayError("overloaded", "The file store is full.");
    const { thrown, logged, asked } = await refusedBy(full);
    expect(thrown).toBe(full);
    expect(asked).toEqual([["red", 12, 7]]);
    expect(logged).toEqual([
      '{"project":"red"} The file store is full. To fix this, raise retention.max_total_mb or retention.max_project_mb, lower retention.hours, or give the file store more disk.',
    ]);
  });

  test("for any other reason the log is not misled", async () => {
    const { thrown, logged } = await refusedBy(new Error("a mistake"));
    expect(thrown).toMatchObject({ kind: "internal" });
    expect(logged).toEqual([]);
  });
});
