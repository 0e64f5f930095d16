import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateText } from "ai";
import { AI_PROVIDERS, setupOf } from "./ai-sdk-models.ts";
import {
  ANTHROPIC_0,
  ANTHROPIC_1,
  MESSAGES_DOORS,
  type MessagesGeneration,
  textOf as messageText,
  type ReadBlock,
} from "./anthropic-clients.ts";
import {
  GENAI_1,
  GENAI_2,
  GENAI_MODES,
  type GenaiGeneration,
  type ReadTurn,
  setupFor,
  textOf,
} from "./genai-clients.ts";
import { CHAT_DOORS, CHAT_GENERATIONS, onlyMessage } from "./openai-clients.ts";
import { type SimulatedGateway, startSimulatedGateway } from "./support.ts";

/**
 * An image and a document inside the request, from every package to models of every protocol. The simulator checks the
 * bytes, rejects those that do not match their declared type, and names what it received.
 */

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PDF = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Page>>endobj\n2 0 obj<</Type/Page>>endobj\n%%EOF\n").toString(
  "base64",
);
const WORDS = "What are these?";
const NAME = "H10, contract 2.12, 2.10, 2.6: an image and a document arrive as what they are";

function bothSeen(where: string, ask: () => Promise<string | null | undefined>): void {
  describe(where, () => {
    test(NAME, async () => {
      const text = await ask();
      expect(text).toContain("image/png");
      expect(text).toContain("2 pages");
    });
  });
}

/** The package warns on the console about every model name it does not know. */
Reflect.set(globalThis, "AI_SDK_LOG_WARNINGS", false);

let harness: SimulatedGateway;
beforeAll(async () => {
  harness = await startSimulatedGateway();
});
afterAll(() => harness.stop());

for (const { version, connect } of CHAT_GENERATIONS) {
  for (const { name, path, kind } of CHAT_DOORS) {
    bothSeen(`openai ${version}, ${name}`, async () => {
      const client = connect({ baseURL: `${harness.gateway.url}${path}`, apiKey: harness.gateway.key, maxRetries: 0 });
      const completion = await client.chat.completions.create({
        model: `${kind}/standard`,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: WORDS },
              { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
              { type: "file", file: { filename: "two.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
            ],
          },
        ],
      });
      return onlyMessage(completion).content;
    });
  }
}

function messagesMedia<Block extends ReadBlock>({ version, connect }: MessagesGeneration<Block>): void {
  for (const { name, path, kind } of MESSAGES_DOORS) {
    bothSeen(`anthropic ${version}, ${name}`, async () => {
      const client = connect({ baseURL: `${harness.gateway.url}${path}`, apiKey: harness.gateway.key, maxRetries: 0 });
      const message = await client.messages.create({
        model: `${kind}/standard`,
        max_tokens: 500,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: WORDS },
              { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
              { type: "document", source: { type: "base64", media_type: "application/pdf", data: PDF } },
            ],
          },
        ],
      });
      return messageText(message.content);
    });
  }
}
messagesMedia(ANTHROPIC_1);
messagesMedia(ANTHROPIC_0);

function genaiMedia<Turn extends ReadTurn>({ version, connect }: GenaiGeneration<Turn>): void {
  for (const mode of GENAI_MODES) {
    bothSeen(`genai ${version}, ${mode.name}`, async () => {
      const { models } = connect(setupFor(mode, harness.gateway.url, harness.gateway.key));
      const answer = await models.generateContent({
        model: `${mode.kind}/standard`,
        contents: [
          {
            role: "user",
            parts: [
              { text: WORDS },
              { inlineData: { mimeType: "image/png", data: PNG } },
              { inlineData: { mimeType: "application/pdf", data: PDF } },
            ],
          },
        ],
      });
      return textOf(answer);
    });
  }
}
genaiMedia(GENAI_2);
genaiMedia(GENAI_1);

for (const { name, kind, model } of AI_PROVIDERS) {
  bothSeen(`ai 6, ${name}`, async () => {
    const { text } = await generateText({
      model: model(setupOf(harness), kind, "standard"),
      maxRetries: 0,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: WORDS },
            { type: "image", image: PNG, mediaType: "image/png" },
            { type: "file", data: PDF, mediaType: "application/pdf", filename: "two.pdf" },
          ],
        },
      ],
    });
    return text;
  });
}
