import { afterAll, expect } from "bun:test";
import { type SecureFront, startSecureFront } from "../support/secure-front.ts";
import { testPage } from "./test-page.ts";

let front: SecureFront | undefined;
afterAll(() => front?.stop());

const ANSWER = "This is Trivium's simulator. You said: “Where do three roads meet?”.";

testPage("docs/live.md", {
  // As the page asks for, there is TLS in front of the gateway.
  before: async ({ gateway, environment }) => {
    front = await startSecureFront(gateway.url);
    const { url, authority } = front;
    Object.assign(environment, { TRIVIUM_URL: url, NODE_EXTRA_CA_CERTS: authority, CURL_CA_BUNDLE: authority });
  },
  expected: {
    ResponsesWS: "completed rcp_\ncompleted rcp_\n",
    OpenAIRealtimeWS: `${ANSWER}\ncompleted true rcp_\n`,
    "ai.live.connect": `${ANSWER}\ncompleted true\n`,
    client_secrets: (output) =>
      expect(JSON.parse(output)).toMatchObject({
        value: expect.stringMatching(/^ek_/),
        session: { model: "sim/realtime" },
      }),
    json: (code) =>
      expect(JSON.parse(code)).toMatchObject({
        type: "error",
        status: 429,
        error: { headers: { "retry-after": "12" } },
      }),
  },
});
