/** A form that is made from the schema of a tool. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { readEdited, startEdit, toggled, withChange } from '../parts/edited-input.ts';
import { fieldsFor, fieldsOf } from '../parts/schema-fields.ts';
import { SchemaForm } from '../parts/schema-form.tsx';
import { type Store, useDraft } from './store.ts';

/** Longer than 60 lines: the markup of one form, and the functions that it calls. */
export function CallForm({
  store,
  name,
  schema,
  busy,
  send,
  trouble,
}: {
  readonly store: Store;
  /** Names what is typed into it. */
  readonly name: string;
  readonly schema: unknown;
  readonly busy: boolean;
  readonly send: (what: 'run' | 'explain', input: unknown) => Promise<void>;
  readonly trouble: (text: string) => void;
}): JSX.Element {
  const known = useMemo(() => fieldsOf(schema), [schema]);
  const [edited, setEdited] = useDraft(store, `edited ${name}`, () =>
    known === undefined
      ? { ...startEdit(schema, {}), asText: true, text: '{}' }
      : startEdit(schema, {}),
  );
  // The defaults of the schema are there as long as nothing was written as JSON.
  const { base, asText, changes } = edited;
  const isFirst = Object.keys(base).length === 0;
  const fields = useMemo(
    () => (isFirst ? known : fieldsFor(schema, base)),
    [schema, base, isFirst, known],
  );
  const read = useMemo(() => readEdited(fields, edited), [fields, edited]);
  const [isTried, setTried] = useState(false);
  const submit = (what: 'run' | 'explain'): void => {
    setTried(true);
    if ('input' in read) void send(what, read.input);
    else trouble(read.fault);
  };
  const faults = 'faults' in read && isTried ? read.faults : new Map<string, string>();
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        submit('run');
      }}
    >
      {asText || fields === undefined ? (
        <label class="named">
          Input as JSON
          <textarea
            class="field"
            rows={8}
            spellcheck={false}
            value={edited.text}
            onInput={({ currentTarget: { value } }) =>
              setEdited((now) => ({ ...now, text: value }))
            }
          />
        </label>
      ) : (
        <SchemaForm
          fields={fields}
          changes={changes}
          faults={faults}
          change={(field, text) => setEdited((now) => withChange(now, field, text))}
        />
      )}
      <div class="row">
        <button type="submit" class="button main" disabled={busy}>
          Call
        </button>
        <button type="button" class="button" disabled={busy} onClick={() => submit('explain')}>
          Explain only
        </button>
        {known === undefined ? null : (
          <button
            type="button"
            class="button"
            onClick={() => {
              const other = toggled(fields, edited);
              if (other !== undefined) setEdited(other);
              else if ('fault' in read) trouble(read.fault);
              setTried(other === undefined);
            }}
          >
            {asText ? 'As a form' : 'As JSON'}
          </button>
        )}
      </div>
    </form>
  );
}
