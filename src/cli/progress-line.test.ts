import { expect, test } from "bun:test";
import { ProgressLine } from "./progress-line.ts";

/** The first writes, up to this number. */
async function writtenBy(isTTY: boolean, times: number): Promise<string[]> {
  const written: string[] = [];
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  let nowMs = 0;
  const write = (text: string) => {
    written.push(text);
    nowMs += 61_000;
    if (written.length >= times) resolve();
  };
  const line = new ProgressLine("sim/video", { isTTY, write }, () => nowMs, 1);
  line.set(30);
  await enough;
  line.stop();
  return written;
}

test("on a terminal one line is rewritten; in a pipe new lines are appended, the first after a delay", async () => {
  const [first, second] = await writtenBy(true, 3);
  expect([first, second]).toEqual(["\r\x1b[2Ksim/video  0:00", "\r\x1b[2Ksim/video  30 %  1:01"]);
  const piped = await writtenBy(false, 2);
  expect(piped.slice(0, 2)).toEqual(["sim/video  30 %  0:00\n", "sim/video  30 %  1:01\n"]);
});
