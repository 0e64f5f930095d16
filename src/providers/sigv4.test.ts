import { describe, expect, test } from "bun:test";
import { signRequest } from "./sigv4.ts";

/** The credentials, moment and scopes of the test suite that the vendor publishes. */
const CREDENTIALS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const DATE = new Date("2015-08-30T12:36:00Z");
const SERVICE = { region: "us-east-1", service: "service" };

const signatureOf = (headers: Record<string, string>) =>
  /SignedHeaders=(\S+), Signature=(\w+)$/.exec(headers["authorization"] ?? "")?.slice(1);

describe("SigV4 against the vendor's published vectors", () => {
  const url = "https://example.amazonaws.com/";
  const vectors = [
    ["get-vanilla", "GET", url, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
    ["post-vanilla", "POST", url, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
    [
      "get-vanilla-query-order-key-case",
      "GET",
      `${url}?Param2=value2&Param1=value1`,
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ],
  ] as const;

  test.each(vectors)("%s", (_name, method, url, signature) => {
    const signed = signRequest({ method, url, headers: {}, body: "" }, CREDENTIALS, SERVICE, DATE);
    expect(signed["x-amz-date"]).toBe("20150830T123600Z");
    expect(signed["authorization"]).toBe(
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, " +
        `SignedHeaders=host;x-amz-date, Signature=${signature}`,
    );
  });

  test("the worked example of the vendor's guide, with a header and a query", () => {
    const signed = signRequest(
      {
        method: "GET",
        url: "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
        headers: { "Content-Type": "application/x-www-form-urlencoded; charset=utf-8" },
        body: "",
      },
      CREDENTIALS,
      { region: "us-east-1", service: "iam" },
      DATE,
    );
    expect(signatureOf(signed)).toEqual([
      "content-type;host;x-amz-date",
      "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
    ]);
  });
});

describe("SigV4 covers the request", () => {
  const request = {
    method: "POST",
    url: "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude%3A0/converse",
    headers: { "content-type": "application/json" },
    body: '{"messages":[]}',
  };
  const scope = { region: "us-east-1", service: "bedrock" };
  const sign = (changes: object, credentials: object = {}) =>
    signatureOf(signRequest({ ...request, ...changes }, { ...CREDENTIALS, ...credentials }, scope, DATE));

  test("any other path, body, header or secret gives another signature; bytes sign as their text", () => {
    const plain = sign({});
    const others = [
      sign({ url: request.url.replace("%3A", ":") }),
      sign({ body: '{"messages":[] }' }),
      sign({ headers: { "content-type": "text/plain" } }),
      sign({}, { secretAccessKey: "another" }),
    ];
    expect(new Set([plain, ...others].map(String)).size).toBe(5);
    expect(sign({ body: new TextEncoder().encode(request.body) })).toEqual(plain);
    expect(sign({ headers: { "Content-Type": "  application/json  " } })).toEqual(plain);
  });

  test("a session's token is sent and signed", () => {
    const signed = signRequest(request, { ...CREDENTIALS, sessionToken: "token" }, scope, DATE);
    expect(signed["x-amz-security-token"]).toBe("token");
    expect(signatureOf(signed)?.[0]).toBe("content-type;host;x-amz-date;x-amz-security-token");
  });
});
