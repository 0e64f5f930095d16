import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { scriptedHarness } from "../support/scripted-harness.ts";

const OLDER = { id: "test/older", created: "2025-02-03", offers: [{ provider: "up-chat", model: "m" }] };

const { gateway } = await scriptedHarness((url) => {
  const config = scriptedModels(url);
  return { config: { ...config, models: [...(config["models"] as object[]), OLDER] } };
});

test("contract 2.9: a configured model is as old as its file, unless it sets a date", async () => {
  const day = statSync(gateway.configFile).mtime.toISOString().slice(0, 10);
  const list = async (path: string) => {
    const { data } = (await (await fetch(gateway.url + path)).json()) as { data: Record<string, unknown>[] };
    return new Map(data.map((entry) => [entry["id"], entry]));
  };
  const chat = await list("/api/v1/models");
  expect(chat.get("test/chat")?.["created"]).toBe(Date.parse(day) / 1000);
  expect(chat.get("test/older")?.["created"]).toBe(Date.parse("2025-02-03") / 1000);
  expect([...chat.values()].filter(({ created }) => created === 0)).toEqual([]);
  const messages = await list("/api/msg/v1/models");
  expect(messages.get("test/chat")?.["created_at"]).toBe(day);
  expect(messages.get("test/older")?.["created_at"]).toBe("2025-02-03");
});
