/** Runs in a separate thread: see threaded-encoder.ts. */
import { makeWayForCalls } from "../base/make-way-for-calls.ts";
import type { Receipt } from "../canon/receipt.ts";
import type { ExportFormat } from "../config/export-format.ts";
import { openEncoder } from "./open-encoder.ts";
import type { ReceiptEncoder } from "./receipt-encoder.ts";

declare const self: Worker;

/** The first message opens the file; one without receipts ends it. */
export type EncoderQuestion =
  | { format: ExportFormat; nowMs: number }
  | { receipts: readonly Receipt[] }
  | { end: true };

export type EncoderAnswer = { bytes: Uint8Array } | { problem: string };

function listen(): void {
  let encoder: ReceiptEncoder | undefined;
  const answer = async (question: EncoderQuestion): Promise<Uint8Array> => {
    if ("format" in question) {
      encoder = await openEncoder(question.format, question.nowMs);
      return new Uint8Array(0);
    }
    if (encoder === undefined) throw new Error("no file is open");
    return "receipts" in question ? encoder.add(question.receipts) : encoder.end();
  };
  self.onmessage = async ({ data }: MessageEvent<EncoderQuestion>) => {
    let answered: EncoderAnswer;
    try {
      answered = { bytes: await answer(data) };
    } catch (thrown) {
      answered = { problem: thrown instanceof Error ? thrown.message : String(thrown) };
    }
    self.postMessage(answered);
  };
}

makeWayForCalls();
listen();
