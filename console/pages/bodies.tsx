import { PageHead } from "../parts/basics.tsx";
import { Bodies } from "../parts/bodies.tsx";
import { place, setQuery } from "../state/router.ts";

/** For project operators, who have no list of calls. They get receipt IDs from clients and exports. */
export function BodiesOfCall() {
  const id = place.value.query.get("call") ?? "";
  const find = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setQuery({ call: String(form.get("call") ?? "").trim() });
  };
  return (
    <>
      <PageHead title="Bodies" />
      <p class="muted">
        Look up the captured request and response of a call in your project. The receipt ID is in the response header{" "}
        <code>x-trivium-receipt</code> and in <a href="/usage">the call export</a>.
      </p>
      <form onSubmit={find} class="tools">
        <label>
          Receipt ID{" "}
          <input
            key={id}
            name="call"
            required
            pattern="rcp_[\w\-]+"
            title="Receipt IDs start with rcp_"
            maxLength={80}
            defaultValue={id}
            spellcheck={false}
            autocomplete="off"
          />
        </label>
        <button type="submit">Find</button>
      </form>
      {id !== "" && <Bodies key={id} call={{ id, captured: true }} />}
    </>
  );
}
