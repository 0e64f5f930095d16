import type { PublicListener } from "./admin/define-route.ts";
import type { SocketHandler } from "./live/live-socket.ts";
import type { RequestHandler, ServedConnection } from "./request-handler.ts";
import type { RoutedRequest } from "./routed-request.ts";

/** Calls a listener from within the program, for a request that came to another one, on its connection. */
export const askWithin =
  (handle: RequestHandler): PublicListener =>
  (request, connection) =>
    handle(request, new BorrowedConnection(connection));

class BorrowedConnection implements ServedConnection {
  held = false;
  readonly #lender: RoutedRequest["connection"];

  constructor(lender: RoutedRequest["connection"]) {
    this.#lender = lender;
  }

  get address(): string {
    return this.#lender.address;
  }

  get trusted(): boolean {
    return this.#lender.trusted;
  }

  set trusted(value: boolean) {
    this.#lender.trusted = value;
  }

  hold(): void {
    this.held = true;
    this.#lender.hold();
  }

  rest(): void {
    this.#lender.rest();
  }

  hangUp(): void {
    this.#lender.hangUp();
  }

  upgrade(handler: SocketHandler, headers: Record<string, string>): Response | undefined {
    return this.#lender.upgrade?.(handler, headers);
  }
}
