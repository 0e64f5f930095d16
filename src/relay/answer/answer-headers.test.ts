import { expect, test } from "bun:test";
import type { FieldNote } from "../../canon/receipt.ts";
import { addReceiptHeaders } from "./answer-headers.ts";

const headersOf = (notes: FieldNote[] | undefined, rateHeaders: Record<string, string> = {}) =>
  addReceiptHeaders(
    {},
    {
      receiptId: "rcp_1",
      admission: { addRateHeaders: (headers) => void Object.assign(headers, rateHeaders) },
      attempt: notes && { notes },
    },
  );
const note = (path: string, action: FieldNote["action"]): FieldNote => ({ path, action, reason: "why" });

test("choices 6: an answer names its receipt, its limits, and the fields that were not honoured", () => {
  expect(headersOf(undefined)).toEqual({ "x-trivium-receipt": "rcp_1" });
  expect(headersOf([])).toEqual({ "x-trivium-receipt": "rcp_1" });
  const notes = [note("seed", "dropped"), note("temperature", "approximated"), note("user", "dropped")];
  expect(headersOf(notes, { "x-ratelimit-limit-requests": "3" })).toEqual({
    "x-trivium-receipt": "rcp_1",
    "x-ratelimit-limit-requests": "3",
    "x-trivium-dropped": "seed,user",
    "x-trivium-approximated": "temperature",
  });
  expect(headersOf([note("seed", "dropped")])).not.toHaveProperty("x-trivium-approximated");
});

test("S15: a path with characters that no header carries, or a very long list, breaks no answer", () => {
  expect(headersOf([note("größe\r\nx", "dropped")])["x-trivium-dropped"]).toBe("gr??e??x");
  const many = Array.from({ length: 1_000 }, (_, index) => note(`field_${index}`, "dropped"));
  expect(headersOf(many)["x-trivium-dropped"]).toHaveLength(2_000);
});
