import { expect, test } from "bun:test";
import { Harness, makeMachine, UPSTREAM_URL } from "../../testing/harness.ts";
import { MortalProcess } from "../../testing/mortal-process.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { BUILT_IN_DIALECTS } from "../dialects/index.ts";
import { buryAbandonedAnswers } from "./background.ts";

test("an answer whose process is killed while it makes it is ended as failed by another, when the lease is over", async () => {
  const machine = await makeMachine();
  const config = scriptedModels(UPSTREAM_URL, { first_byte: 600_000, idle: 600_000 });
  const process = new MortalProcess(machine);
  const doomed = await Harness.start({ config, machine, within: process });
  machine.upstream.play((reply) => void reply.closed);
  const queued = await doomed.post("/v1/responses", { model: "test/chat", input: "Hi", background: true }, TEST_KEY);
  const { id } = JSON.parse(queued.text) as { id: string };
  await machine.clock.pass(5_000);
  // Dead from its next step on: the renewal of its lease.
  process.dieAt({ step: 1, when: "before" });
  const survivor = await Harness.start({ config, machine });
  const look = async () =>
    JSON.parse((await survivor.ask("GET", `/v1/responses/${id}`)).text) as { status: string; error: object | null };

  await machine.clock.pass(30_000);
  await buryAbandonedAnswers(survivor.gateway, BUILT_IN_DIALECTS);
  expect(await look()).toMatchObject({ status: "in_progress", error: null });
  await machine.clock.pass(40_000);
  await buryAbandonedAnswers(survivor.gateway, BUILT_IN_DIALECTS);
  expect(await look()).toMatchObject({
    id,
    status: "failed",
    error: { code: "server_error", message: "The gateway was stopped while it made this response. Create it again." },
  });
  expect(await machine.storage.query("SELECT id FROM operations")).toEqual([]);
  await buryAbandonedAnswers(survivor.gateway, BUILT_IN_DIALECTS);
});
