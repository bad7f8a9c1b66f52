/** A form that is made from the schema of a tool. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Field, fieldsOf, inputOf } from './schema-fields.ts';

/** Longer than 60 lines: the markup of one form, and the functions that it calls. */
export function CallForm({
  schema,
  busy,
  send,
  trouble,
}: {
  readonly schema: unknown;
  readonly busy: boolean;
  readonly send: (what: 'run' | 'explain', input: unknown) => Promise<void>;
  readonly trouble: (text: string) => void;
}): JSX.Element {
  const fields = fieldsOf(schema);
  const [asText, setAsText] = useState(fields === undefined);
  const [text, setText] = useState('{}');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const read = (): { input: unknown } | undefined => {
    try {
      return { input: asText ? JSON.parse(text) : inputOf(fields ?? [], values) };
    } catch (error) {
      trouble(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  };
  const submit = (what: 'run' | 'explain'): void => {
    const found = read();
    if (found !== undefined) void send(what, found.input);
  };
  const toText = (): void => {
    const found = read();
    if (found === undefined) return;
    setText(JSON.stringify(found.input, null, 2));
    setAsText(true);
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        submit('run');
      }}
    >
      {asText ? (
        <label class="named">
          Input as JSON
          <textarea
            class="field"
            rows={8}
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
      ) : (
        fields?.map((field) => (
          // biome-ignore lint/a11y/noLabelWithoutControl: its control is `Control`.
          <label key={field.name} class="named">
            <span class="wrap">
              {field.name}
              <span class="hint">
                {field.required ? '' : ' (optional)'}
                {field.description === '' ? '' : `: ${field.description}`}
              </span>
            </span>
            <Control
              field={field}
              value={values[field.name] ?? field.initial}
              change={(value) => setValues({ ...values, [field.name]: value })}
            />
          </label>
        ))
      )}
      <div class="row">
        <button type="submit" class="button main" disabled={busy}>
          Call
        </button>
        <button type="button" class="button" disabled={busy} onClick={() => submit('explain')}>
          Explain only
        </button>
        {fields === undefined ? null : (
          <button
            type="button"
            class="button"
            onClick={() => (asText ? setAsText(false) : toText())}
          >
            {asText ? 'As a form' : 'As JSON'}
          </button>
        )}
      </div>
    </form>
  );
}

function Control({
  field,
  value,
  change,
}: {
  readonly field: Field;
  readonly value: string;
  readonly change: (value: string) => void;
}): JSX.Element {
  const { kind, choices, required } = field;
  if (kind === 'choice' || kind === 'yes-no')
    return (
      <select
        class="field"
        value={value}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      >
        <option value="">{required ? 'choose …' : 'not given'}</option>
        {(kind === 'choice' ? choices : [true, false]).map((choice) => (
          <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
            {kind === 'yes-no' ? (choice === true ? 'yes' : 'no') : String(choice)}
          </option>
        ))}
      </select>
    );
  if (kind === 'long' || kind === 'json')
    return (
      <textarea
        class="field"
        rows={3}
        spellcheck={kind === 'long'}
        placeholder={kind === 'json' ? 'JSON' : ''}
        value={value}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    );
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void =>
    change(currentTarget.value);
  return kind === 'text' ? (
    <input class="field" type="text" value={value} onInput={onInput} />
  ) : (
    <input
      class="field"
      type="number"
      step={kind === 'integer' ? 1 : 'any'}
      value={value}
      onInput={onInput}
    />
  );
}
