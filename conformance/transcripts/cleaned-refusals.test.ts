import { expect, test } from "bun:test";
import { parseObject } from "../../src/base/json.ts";
import { redactText } from "../../src/providers/redact-text.ts";
import { everyRecording, nameOf, textOf } from "../../testing/recordings.ts";

/** Every text of a body, however deep. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const INTERNALS = [
  "https://llm-7.prod.internal:8443/v1/chat?x=1",
  "http://10.2.3.4/",
  "10.2.3.4:8000",
  "vllm-0.vllm.default.svc.cluster.local",
  "gpu-17.acme.net:9000",
  "org-Zx81mQ0pLk22",
  "req_011CSHoEeqs5C35K2UUqR7Fy",
  "8f14e45f-ceea-467f-a8d1-0a1b2c3d4e5f",
  "arn:aws:bedrock:eu-west-1:123456789012:provisioned-model/abc",
  "ops@acme.example",
  "sk-ant-api03-abc123def456",
  "/opt/vllm/engine/core.py",
];

const refusals = everyRecording.filter(({ status }) => status >= 400);

test.each(refusals.map((recording) => [nameOf(recording), recording] as const))(
  "S22: a recorded refusal shows no internals, wherever they are in it: %s",
  (_, recording) => {
    const raw = textOf(recording);
    for (const text of textsIn(parseObject(raw) ?? raw)) {
      const cleaned = redactText(text);
      expect(cleaned).not.toMatch(/:\/\/|\d+\.\d+\.\d+\.\d+|googleapis\.com|projects\/[^[]/);
      expect(redactText(cleaned)).toBe(cleaned);
      const words = text.split(" ");
      for (const [index] of words.entries()) {
        const internal = INTERNALS[index % INTERNALS.length] ?? "";
        const spoiled = [...words.slice(0, index), internal, ...words.slice(index)].join(" ");
        const reported = redactText(spoiled);
        expect(reported).not.toContain(internal);
        // Nothing else is lost by it.
        expect(reported.replace(/\[(?:url|host|id|email|key|path)\] ?/g, "").length).toBeGreaterThanOrEqual(
          cleaned.replace(/\[(?:url|host|id|email|key|path)\] ?/g, "").length,
        );
      }
    }
  },
);
