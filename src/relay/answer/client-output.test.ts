import { describe, expect, test } from "bun:test";
import { sampleCall, scriptedGateway } from "../../../testing/scripted-gateway.ts";
import { ClientOutput, type DirectController, streamedBody } from "./client-output.ts";

/** An output, and what its client has got of it. */
function committed({ hasContent = true, keepAlive = ": ping\n\n" } = {}) {
  const { gateway, clock } = scriptedGateway();
  const { call, disconnect } = sampleCall(gateway);
  const output = new ClientOutput(call.client, gateway, keepAlive);
  const written: string[] = [];
  const reading = { blocked: false };
  let flushed = 0;
  const controller: DirectController = {
    write: (text) => written.push(Buffer.from(text as string).toString()),
    flush: (wait) => {
      flushed++;
      return wait && reading.blocked ? new Promise<number>(() => {}) : 0;
    },
    close: () => written.push("(closed)"),
  };
  output.commit(controller, hasContent);
  const render = (text: string) => {
    const { buffer } = output;
    buffer.putText(text);
    return buffer;
  };
  return { flushes: () => flushed, output, written, clock, disconnect, render, reading, gateway, call };
}

describe("the output of a client", () => {
  test("sent output arrives at once, kept output at the close", () => {
    const { output, written, render } = committed();
    expect(output.send(render("one "))).toBe(true);
    output.keep(render("three "));
    output.keep(render("four"));
    output.send(render("two "));
    expect(written).toEqual(["one ", "two "]);
    output.close();
    expect(written).toEqual(["one ", "two ", "three four", "(closed)"]);
  });

  test("H22: everything written is flushed at once, including an error or a keep-alive", () => {
    const { output, render, flushes } = committed();
    output.send(render("one"));
    expect(flushes()).toBe(1);
    output.write(": ping");
    expect(flushes()).toBe(2);
  });

  test("H26: a response that continues without its client is closed if the runtime pulls it later", async () => {
    const { call, disconnect, clock } = committed();
    let produced = 0;
    const body = streamedBody(call.client, async () => void produced++);
    await clock.pass(100);
    disconnect();
    expect(produced).toBe(1);
    expect(await new Response(body).text()).toBe("");
    expect(produced).toBe(1);
  });

  test("output held before the commit is sent, or kept unchanged", () => {
    const { output, written } = committed();
    const held = output.hold();
    held.putText("held");
    output.sendHeld(held);
    const kept = output.hold();
    kept.putText("kept");
    output.keepHeld(kept);
    expect(written).toEqual(["held"]);
    output.close();
    expect(written).toEqual(["held", "kept", "(closed)"]);
  });

  test("H20: every buffer is returned to the pool, however it was used", () => {
    const { output, gateway } = committed();
    const { buffers } = gateway;
    const [dropped, sent, kept] = [output.hold(), output.hold(), output.hold()];
    output.drop(dropped);
    output.sendHeld(sent);
    output.keepHeld(kept);
    output.close();
    const free = new Set([buffers.take(), buffers.take(), buffers.take()]);
    expect([dropped, sent, kept].filter((buffer) => !free.has(buffer))).toEqual([]);
  });

  test("an answer that failed has no proper end", () => {
    const { output, written, render } = committed();
    output.keep(render("data: [DONE]\n\n"));
    output.dropLast();
    output.close();
    expect(written).toEqual(["(closed)"]);
  });

  test("a client that has disconnected gets nothing", () => {
    const { output, written, render, disconnect } = committed();
    disconnect();
    output.send(render("one"));
    output.keep(render("two"));
    output.close();
    expect(written).toEqual(["(closed)"]);
    expect(output.begun).toBe(false);
  });

  test("no provider makes the gateway keep without bound", () => {
    const { output, render } = committed();
    const megabyte = "x".repeat(1024 * 1024);
    for (let count = 0; count < 32; count++) output.keep(render(megabyte));
    expect(() => output.keep(render("x"))).toThrow("kept sending data after");
  });
});

describe("silence", () => {
  test("is broken by keep-alives, each after fifteen seconds", async () => {
    const { output, written, render, clock } = committed();
    await clock.pass(10_000);
    output.send(render("content"));
    await clock.pass(14_000);
    expect(written).toEqual(["content"]);
    await clock.pass(17_000);
    expect(written).toEqual(["content", ": ping\n\n", ": ping\n\n"]);
    output.close();
    await clock.pass(60_000);
    expect(written.at(-1)).toBe("(closed)");
  });

  test("is broken at once where the headers were sent without content", async () => {
    const { written, clock } = committed({ hasContent: false });
    await clock.pass(200);
    expect(written).toEqual([": ping\n\n"]);
  });
});

describe("a client that reads slowly", () => {
  test("is waited for when too much is on its way", async () => {
    const { output, render, clock } = committed();
    expect(output.send(render("x".repeat(100 * 1024)))).toBe(true);
    expect(output.send(render("x".repeat(100 * 1024)))).toBe(false);
    await clock.until(output.taken());
    expect(output.send(render("x"))).toBe(true);
  });

  test("is given up when it reads nothing for five minutes, and gets no keep-alives meanwhile", async () => {
    const { output, written, clock, reading, call } = committed();
    reading.blocked = true;
    const taken = output.taken();
    await clock.pass(299_000);
    expect(call.client.disconnected).toBe(false);
    await clock.until(taken);
    expect(call.client.disconnected).toBe(true);
    expect(clock.passedMs).toBeWithin(300_000, 300_300);
    expect(written).toEqual([]);
  });
});
