import { expect, test } from "bun:test";
import { encodeContext } from "../../request/encode-context.sample.ts";
import { encodeResponse } from "./encode-response.ts";

test("a whole answer always has `logprobs`, null if there are none, as the vendor's answers do", () => {
  const reply = { parts: [{ type: "text" as const, text: "hi" }], stop: { unified: "stop" as const, raw: "stop" } };
  const { choices } = JSON.parse(encodeResponse(reply, encodeContext())) as { choices: object[] };
  expect(choices).toEqual([
    { index: 0, message: expect.objectContaining({ content: "hi" }), logprobs: null, finish_reason: "stop" },
  ]);
});
