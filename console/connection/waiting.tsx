import { Mark } from "../parts/shell.tsx";

/** Instead of a login page while it is not known whether there is a session. */
export const WaitingForGateway = () => (
  <main class="login">
    <section>
      <h1>
        <Mark /> Trivium
      </h1>
      <p class="hint">This page appears as soon as the gateway answers.</p>
    </section>
  </main>
);
