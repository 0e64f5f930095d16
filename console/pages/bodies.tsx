import { PageHead } from "../parts/basics.tsx";
import { Bodies } from "../parts/bodies.tsx";
import { place, setQuery } from "../state/router.ts";

/** For operators of a project, who have no list of calls: clients and exports have the ids of theirs. */
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
        What was said in a call of your project whose key has it kept. Answers name their call in the header{" "}
        <code>x-trivium-receipt</code>, and <a href="/usage">the export of calls</a> has all of them.
      </p>
      <form onSubmit={find} class="tools">
        <label>
          Receipt{" "}
          <input
            key={id}
            name="call"
            required
            pattern="rcp_[\w\-]+"
            title="It begins with rcp_"
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
