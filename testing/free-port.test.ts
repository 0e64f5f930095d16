import { expect, test } from "bun:test";
import { freePort } from "./free-port.ts";

const ports = (count: number) => Array.from({ length: count }, freePort);

test("processes that run at the same time get different ports, outside the range of outgoing connections", async () => {
  const script = `
    import { freePort } from ${JSON.stringify(new URL("free-port.ts", import.meta.url).href)};
    console.log(JSON.stringify(Array.from({ length: 100 }, freePort)));
    await Bun.stdin.text();`;
  const children = Array.from({ length: 3 }, () =>
    Bun.spawn([process.execPath, "-e", script], { stdin: "pipe", stdout: "pipe" }),
  );
  const lists = await Promise.all(
    children.map(async (child) => {
      const { value } = await child.stdout.getReader().read();
      return JSON.parse(new TextDecoder().decode(value)) as number[];
    }),
  );
  const all = [...lists.flat(), ...ports(100)];
  for (const child of children) child.stdin.end();
  await Promise.all(children.map(({ exited }) => exited));
  expect(new Set(all).size).toBe(400);
  expect(Math.max(...all)).toBeLessThan(32_768);
});

test("a port that is in use is passed over", () => {
  const [port = 0] = ports(1);
  const taken = Bun.listen({ hostname: "127.0.0.1", port: port + 1, socket: { data: () => undefined } });
  expect(freePort()).not.toBe(port + 1);
  taken.stop(true);
});
