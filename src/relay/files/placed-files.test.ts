import { expect, test } from "bun:test";
import { chat } from "../../dialects/chat/index.ts";
import type { ReceivedRequest } from "../../dialects/received-request.ts";
import { editBody } from "../../wire/edit-body.ts";
import { PlacedFiles } from "./placed-files.ts";

test("a large request, which is held as bytes, reaches its provider with the provider's ids of files", () => {
  const file = { type: "file", file: { file_id: "file-ours" } };
  const body = {
    model: "m",
    messages: [{ role: "user", content: [file, { type: "text", text: "x".repeat(40_000) }] }],
  };
  const text = JSON.stringify(body);
  const received: ReceivedRequest = { text, bytes: Buffer.from(text), body };
  const named = { id: "ours", name: "a.pdf", mimeType: "application/pdf", size: 9, path: "messages[0]", parts: 1 };
  const placed = new PlacedFiles({
    placed: new Map([["file-ours", { file: named, providerId: "file-theirs" }]]),
    inline: new Map(),
    at: undefined,
    uploaded: 0,
  });
  const sent = placed.inRequest(received, chat);
  const payload = String(editBody(sent, { set: { model: '"upstream"' } }, sent.body));
  expect(payload).toContain('"file_id":"file-theirs"');
  expect(payload).not.toContain("file-ours");
});
