import { expect, test } from "bun:test";
import { signTc3 } from "./tc3.ts";

const CREDENTIALS = { secretId: "AKIDexample", secretKey: "secret-example" };
const DATE = new Date("2026-01-01T00:00:00Z");

test("providers 2.9: the worked example of the vendor's guide, whose keys are starred", () => {
  const signed = signTc3(
    {
      url: "https://cvm.tencentcloudapi.com/",
      headers: { "content-type": "application/json; charset=utf-8" },
      body: '{"Limit": 1, "Filters": [{"Values": ["\\u672a\\u547d\\u540d"], "Name": "instance-name"}]}',
    },
    { secretId: "AKIDz8krbsJ5yKBZQpn74WFkmLPx3*******", secretKey: "Gu5t9xGARNpq86cd98joQYCN3*******" },
    "cvm",
    new Date(1_551_113_065_000),
  );
  expect(signed).toEqual({
    "content-type": "application/json; charset=utf-8",
    "x-tc-timestamp": "1551113065",
    authorization:
      "TC3-HMAC-SHA256 Credential=AKIDz8krbsJ5yKBZQpn74WFkmLPx3*******/2019-02-25/cvm/tc3_request, " +
      "SignedHeaders=content-type;host, Signature=2230eefd229f582d8b1b891af7107b91597240707d778ab3738f756258d7652c",
  });
});

/** Computed independently, with Python's hmac and hashlib. */
const KNOWN = [
  [
    "a body beyond ASCII",
    "https://aiart.tencentcloudapi.com/",
    "SubmitTextToImageJob",
    '{"Prompt":"竹林"}',
    "7f13fff1be9e191bf3878f06cdb2076ad943807a60940d4fc4d839e453e597ac",
  ],
  [
    "a host with a port and a path",
    "http://127.0.0.1:8080/hosts/hunyuan/",
    "QueryTextToImageJob",
    '{"JobId":"1"}',
    "0cac448055c7bedabd96cbaa58dea0cb37c3a570f820b80a5a68ffeea8318f76",
  ],
] as const;

test.each(KNOWN)("providers 2.9: the action is covered too: %s", (_name, url, action, body, signature) => {
  const request = { url, headers: { "content-type": "application/json", "x-tc-action": action } };
  const ending = `SignedHeaders=content-type;host;x-tc-action, Signature=${signature}`;
  expect(signTc3({ ...request, body }, CREDENTIALS, "aiart", DATE)["authorization"]).toEndWith(ending);
  const bytes = new TextEncoder().encode(body);
  expect(signTc3({ ...request, body: bytes }, CREDENTIALS, "aiart", DATE)["authorization"]).toEndWith(ending);
});
