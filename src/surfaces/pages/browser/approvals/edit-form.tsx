/** The input in a form or as JSON to edit, and the changes of the edit before it is sent. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { JsonObject } from '../../../../values/json/value.ts';
import type { WaitingApproval } from '../../approvals-wire.ts';
import {
  type Edited,
  type ReadInput,
  readEdited,
  startEdit,
  toggled,
  withChange,
} from '../parts/edited-input.ts';
import { Part } from '../parts/elements.tsx';
import { type Field, fieldsFor } from '../parts/schema-fields.ts';
import { SchemaForm } from '../parts/schema-form.tsx';
import { visibleText } from '../parts/visible.ts';
import { labelOf } from './heading.tsx';
import type { Inbox } from './inbox.ts';
import { firstField, focusSoon } from './keys.ts';
import type { PaneProps } from './pane-props.ts';

/** The edit of an approval. Without one, this is the original input. */
export interface Edit {
  readonly edited: Edited;
  /** Undefined if there are too many for a form. */
  readonly fields: readonly Field[] | undefined;
  readonly read: ReadInput;
}

/** Most lines that are in sight at once. */
const maxRows = 40;

export function useEdit(
  asked: WaitingApproval,
  input: JsonObject,
  begun: Edited | undefined,
): Edit {
  const { schema } = asked;
  const edited = useMemo(() => begun ?? startEdit(schema, input), [begun, schema, input]);
  const fields = useMemo(() => fieldsFor(edited.schema, edited.base), [edited.schema, edited.base]);
  const read = useMemo(() => readEdited(fields, edited), [fields, edited]);
  return { edited, fields, read };
}

/** Longer than 60 lines: the form, the text, and what they have in common. */
export function EditForm({
  inbox,
  asked: { id },
  edit: { edited, fields, read },
}: {
  readonly inbox: Inbox;
  readonly asked: WaitingApproval;
  readonly edit: Edit;
}): JSX.Element {
  const { faults } = inbox.draftOf(id);
  // What is typed may come faster than the page is drawn, so each change is to the newest edit.
  const change = (to: (now: Edited) => Edited): void =>
    inbox.change(id, {
      edited: to(inbox.draftOf(id).edited ?? edited),
      faults: new Map(),
      trouble: '',
    });
  const { asText } = edited;
  const other = useMemo(() => toggled(fields, edited), [fields, edited]);
  const isTextOnly = fields === undefined && asText;
  return (
    <form
      id="edit"
      onSubmit={(event) => {
        event.preventDefault();
        if (!('input' in read)) return;
        inbox.change(id, { doing: 'review', trouble: '' });
        focusSoon('.edit-changes');
      }}
    >
      <Part
        title="Input to run instead"
        beside={
          isTextOnly ? null : (
            <button
              type="button"
              class="button small"
              aria-pressed={asText}
              disabled={other === undefined}
              onClick={() => other !== undefined && inbox.change(id, { edited: other })}
            >
              Raw JSON
            </button>
          )
        }
      >
        {asText || fields === undefined ? (
          <textarea
            class="field json-field"
            aria-label="Input to run instead, as JSON"
            rows={Math.min(maxRows, edited.text.split('\n').length + 2)}
            spellcheck={false}
            autocomplete="off"
            value={edited.text}
            aria-invalid={'fault' in read}
            aria-describedby="edit-fault"
            onInput={({ currentTarget: { value } }) => change((now) => ({ ...now, text: value }))}
          />
        ) : (
          <SchemaForm
            fields={fields}
            changes={edited.changes}
            faults={'faults' in read ? read.faults : faults}
            change={(name, text) => change((now) => withChange(now, name, text))}
          />
        )}
        <p id="edit-fault" class={'fault' in read ? 'notice bad' : 'soft small'}>
          {'fault' in read ? read.fault : 'It is validated and judged again before it runs.'}
        </p>
      </Part>
    </form>
  );
}

export function EditButtons({
  inbox,
  id,
  read,
}: {
  readonly inbox: Inbox;
  readonly id: string;
  readonly read: ReadInput;
}): JSX.Element {
  const [wrong] = 'faults' in read ? read.faults : [];
  return (
    <div class="row">
      <button type="submit" form="edit" class="button main" disabled={'fault' in read}>
        Review the changes
      </button>
      <button
        type="button"
        class="button"
        onClick={() => {
          inbox.change(id, { doing: 'look' });
          focusSoon('.pane');
        }}
      >
        Back
      </button>
      {inbox.draftOf(id).edited === undefined ? null : (
        <button
          type="button"
          class="button"
          onClick={() => {
            inbox.change(id, { edited: undefined, faults: new Map(), trouble: '' });
            focusSoon(firstField);
          }}
        >
          Discard the edit
        </button>
      )}
      {wrong === undefined ? null : (
        <span class="fault small wrap">
          {visibleText(wrong[0])}: {wrong[1]}
        </span>
      )}
    </div>
  );
}

export function ReviewButtons({
  inbox,
  entry,
  read,
  off,
}: Pick<PaneProps, 'inbox' | 'entry'> & {
  readonly read: ReadInput;
  readonly off: boolean;
}): JSX.Element {
  const { id, input: asked } = entry.asked;
  const isSame = 'fault' in read || JSON.stringify(read.input) === JSON.stringify(asked);
  return (
    <div class="row">
      <button
        type="button"
        class="button yes"
        disabled={off || isSame}
        onClick={({ detail }) => {
          if (detail > 1 || !('input' in read)) return;
          void inbox.answer(entry, { decision: 'allow_once', input: read.input });
          focusSoon('.pane');
        }}
      >
        {inbox.draftOf(id).sending ? 'Sent …' : 'Allow once with these changes'}
        <span class="unseen">, instead of {labelOf(entry.asked)}</span>
      </button>
      <button
        type="button"
        class="button"
        disabled={inbox.draftOf(id).sending}
        onClick={() => {
          inbox.change(id, { doing: 'edit' });
          focusSoon(firstField);
        }}
      >
        Back to editing
      </button>
    </div>
  );
}
