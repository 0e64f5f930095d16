import { expect, test } from "bun:test";
import { Bench } from "./process.sample.ts";
import { Reservations } from "./reservations.ts";

const bench = await Bench.open();

function bookkeeping() {
  const books: string[] = [];
  const reservations = new Reservations(({ keyId }, costNanoUsd) => {
    books.push(`${keyId} holds ${costNanoUsd}`);
    return (actualNanoUsd, atMs) => books.push(`${keyId} pays ${actualNanoUsd} at ${atMs}`);
  });
  return { books, reservations };
}

test("H23: money is reserved once for an operation, and paid once, at the time of its receipt", () => {
  const { books, reservations } = bookkeeping();
  const operation = bench.operation({ createdAtMs: 77 });
  reservations.add(operation, 30);
  reservations.add(operation, 30);
  expect(reservations.held).toEqual(["operation_1"]);
  reservations.settle(operation, 20);
  expect(reservations.held).toEqual([]);
  expect(books).toEqual(["key_1 holds 30", "key_1 pays 20 at 77"]);
});

test("H23: an operation that another process reserved money for is still paid here", () => {
  const { books, reservations } = bookkeeping();
  reservations.settle(bench.operation({ createdAtMs: 77 }), 20);
  expect(books).toEqual(["key_1 holds 0", "key_1 pays 20 at 77"]);
});
