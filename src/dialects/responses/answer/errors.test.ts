import { describe, expect, test } from "bun:test";
import { objectAt, stringAt } from "../../../base/json.ts";
import { ERROR_TABLE, type ErrorKind, GatewayError } from "../../../canon/error.ts";
import { unfold } from "../../../canon/fold.ts";
import { encodeContext } from "../../request/encode-context.sample.ts";
import { readEvents, STOPPED } from "../stream.sample.ts";
import { ResponsesStreamEncoder } from "./encode-stream.ts";
import { encodeError, encodeStreamError } from "./errors.ts";

const failed = (error: GatewayError, position?: unknown) =>
  readEvents(
    encodeStreamError(error, "req-1", {
      options: undefined,
      begun: position !== undefined,
      position,
      call: { model: "acme/model", request: { instructions: "Be brief." }, atSeconds: 9 },
    })
      .map(({ text }) => text)
      .join(""),
  );

describe("R1: a broken stream ends with an error event and response.failed, and nothing follows", () => {
  test("after content, the numbers continue and the done items are included", () => {
    const encoder = new ResponsesStreamEncoder(encodeContext());
    const parts = [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Hi" },
    ] as const;
    let text = "";
    for (const event of unfold({ parts, stop: STOPPED })) if (event.type !== "finish") text += encoder.push(event);
    const before = readEvents(text);
    const [told, ended, ...more] = failed(new GatewayError("upstream_failed", "It broke."), encoder.position);
    expect(more).toEqual([]);
    expect(told).toEqual({
      type: "error",
      sequence_number: before.length,
      error: { type: "api_error", code: "server_error", message: "It broke.", param: null },
    });
    expect(ended).toMatchObject({
      type: "response.failed",
      sequence_number: before.length + 1,
      response: {
        status: "failed",
        error: { code: "server_error", message: "It broke." },
        output: [{ type: "reasoning" }],
        usage: null,
      },
    });
  });

  test("before any content, a response starts like every other and fails", () => {
    const events = failed(new GatewayError("upstream_timeout", "It is late."));
    const response = { id: "resp_req1", model: "acme/model", instructions: "Be brief.", created_at: 9 };
    expect(events).toMatchObject([
      { type: "response.created", sequence_number: 0, response: { ...response, status: "in_progress" } },
      { type: "response.in_progress", sequence_number: 1, response: { ...response, status: "in_progress" } },
      { type: "error", sequence_number: 2 },
      { type: "response.failed", sequence_number: 3, response: { ...response, status: "failed" } },
    ]);
  });

  test("the same if a host fails before it names its response", () => {
    const position = { sequence: 0, response: {} };
    expect(failed(new GatewayError("upstream_failed", "It broke."), position)).toEqual(
      failed(new GatewayError("upstream_failed", "It broke.")),
    );
  });
});

test("R28: a long prompt, a rate limit and an exhausted budget have the codes that clients know", () => {
  const codeOf = (error: GatewayError) =>
    stringAt(objectAt(objectAt(failed(error).at(-1), "response"), "error"), "code");
  const tooLong = new GatewayError("invalid_request", "Too long.", { code: "context_length_exceeded" });
  expect(codeOf(tooLong)).toBe("context_length_exceeded");
  expect(JSON.parse(encodeError(tooLong).body)).toMatchObject({ error: { code: "context_length_exceeded" } });
  expect(encodeError(tooLong).status).toBe(400);
  expect(codeOf(new GatewayError("rate_limited", "Slower."))).toBe("rate_limit_exceeded");
  expect(codeOf(new GatewayError("budget_exhausted", "No money."))).toBe("insufficient_quota");
});

test("R34: an unknown model is reported in the protocol's terms", () => {
  const answer = encodeError(new GatewayError("not_found", "No such model.", { path: "model" }));
  expect(JSON.parse(answer.body)).toEqual({
    error: { message: "No such model.", type: "not_found_error", param: "model", code: "model_not_found" },
  });
});

test("every kind of error has a string code", () => {
  for (const kind of Object.keys(ERROR_TABLE) as ErrorKind[]) {
    const [told, ended] = failed(new GatewayError(kind, "words")).slice(-2);
    expect(stringAt(objectAt(told, "error"), "code")).toBeString();
    expect(stringAt(objectAt(objectAt(ended, "response"), "error"), "code")).toBeString();
  }
});
