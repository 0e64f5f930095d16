import { useState } from "preact/hooks";
import type { Act } from "../api/types.ts";
import { full, when } from "../format/time.ts";
import { addressOfObject, fieldsChanged, sentenceOf } from "../state/audit-words.ts";
import { nameOfKey } from "../state/names.ts";

const isNothing = (shown: string | undefined): boolean => shown === undefined || shown === "null";

/** The fields that an act changed, each before and after. */
const Details = ({ act }: { act: Act }) => (
  <table class="act-fields">
    <thead>
      <tr>
        <th scope="col">Field</th>
        <th scope="col">Before</th>
        <th scope="col">After</th>
      </tr>
    </thead>
    <tbody>
      {fieldsChanged(act).map(({ name, before, after }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>{isNothing(before) ? <span class="muted">–</span> : <del>{before}</del>}</td>
          <td>{isNothing(after) ? <span class="muted">–</span> : <ins>{after}</ins>}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

function OneAct({ act }: { act: Act }) {
  const [isOpen, setOpen] = useState(false);
  const { actor, before, object, after } = sentenceOf(act, nameOfKey);
  const href = addressOfObject(act);
  return (
    <li>
      <time dateTime={act.at} title={full(act.at)}>
        {when(act.at)}
      </time>
      <p>
        <strong>{actor}</strong> {before}
        {object !== undefined && (href === undefined ? <q>{object}</q> : <a href={href}>{object}</a>)}
        {after}
      </p>
      <span class="muted small address">{act.address ?? ""}</span>
      {fieldsChanged(act).length > 0 ? (
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Hide" : "Details"}
        </button>
      ) : (
        <span />
      )}
      {isOpen && <Details act={act} />}
    </li>
  );
}

/** Acts as sentences, newest first; the fields of each on demand. */
export const ActList = ({ acts }: { acts: readonly Act[] }) => (
  <ol class="acts-list">
    {acts.map((act) => (
      <OneAct key={act.id} act={act} />
    ))}
  </ol>
);
