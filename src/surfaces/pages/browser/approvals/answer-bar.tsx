/** The ways to answer. They stay in sight, at one place, however long the input is. */
import type { JSX } from 'preact';
import type { ReadInput } from '../parts/edited-input.ts';
import type { Fold } from '../parts/input-shape.ts';
import { visibleText } from '../parts/visible.ts';
import { EditButtons, ReviewButtons } from './edit-form.tsx';
import { labelOf } from './heading.tsx';
import { firstField, focusSoon } from './keys.ts';
import type { PaneProps } from './pane-props.ts';

type Props = PaneProps & {
  readonly read: ReadInput;
  /** What of the input is not in sight. */
  readonly folds: readonly Fold[];
  readonly unfoldAll: () => void;
};

export function AnswerBar(props: Props): JSX.Element {
  const { inbox, known, entry, now, next, read } = props;
  const { asked, ended } = entry;
  const { doing, sending, trouble } = inbox.draftOf(asked.id);
  const off = sending || asked.expiresAt <= now || known.connection === 'signed-out';
  const waiting = known.entries.some((other) => other !== entry && other.ended === undefined);
  return (
    <div class="answer-bar">
      <p class={trouble === '' ? 'unseen' : 'notice bad pre'} role="alert">
        {trouble}
      </p>
      <p class="unseen" role="status">
        {sending ? 'Sent. Waiting for the end of the call.' : (ended?.text ?? '')}
      </p>
      <Folded {...props} />
      {ended !== undefined ? (
        <div class="row">
          <button type="button" class="button main" data-key="a" disabled={!waiting} onClick={next}>
            {waiting ? 'Next approval' : 'Nothing else is waiting'}
          </button>
        </div>
      ) : doing === 'reject' ? (
        <RejectForm inbox={inbox} entry={entry} off={off} />
      ) : doing === 'edit' ? (
        <EditButtons inbox={inbox} id={asked.id} read={read} />
      ) : doing === 'review' ? (
        <ReviewButtons inbox={inbox} entry={entry} read={read} off={off} />
      ) : (
        <FirstButtons inbox={inbox} entry={entry} off={off} />
      )}
    </div>
  );
}

/** Whoever allows a call learns that some of its input is folded. */
function Folded({ folds, unfoldAll }: Props): JSX.Element | null {
  const [first] = folds;
  if (first === undefined) return null;
  const where = (pointer: string): string => visibleText(pointer.slice(1).replaceAll('/', '.'));
  return (
    <p class="row folded">
      <span class="grow wrap">
        Folded above:{' '}
        {folds
          .slice(0, 3)
          .map(({ pointer, rest }) => (pointer === '' ? rest : `${rest} of ${where(pointer)}`))
          .join(', ')}
        {folds.length > 3 ? ` and ${folds.length - 3} more` : ''}
      </span>
      <button type="button" class="button small" onClick={unfoldAll}>
        Show all of it
      </button>
    </p>
  );
}

function FirstButtons({
  inbox,
  entry,
  off,
}: Pick<PaneProps, 'inbox' | 'entry'> & { readonly off: boolean }): JSX.Element {
  const { id, editable, hiddenFields } = entry.asked;
  const { sending, edited } = inbox.draftOf(id);
  return (
    <div class="row">
      <button
        type="button"
        class="button yes"
        data-key="a"
        disabled={off}
        onClick={({ detail }) => {
          // The second click of a double click may have been meant for what was here before.
          if (detail > 1) return;
          void inbox.answer(entry, { decision: 'allow_once' });
          focusSoon('.pane');
        }}
      >
        {sending ? 'Sent …' : 'Allow once'}
        <span class="unseen">: {labelOf(entry.asked)}</span>
      </button>
      <button
        type="button"
        class="button no"
        disabled={off}
        onClick={() => {
          inbox.change(id, { doing: 'reject' });
          focusSoon('.pane textarea');
        }}
      >
        Reject …
      </button>
      {editable ? (
        <button
          type="button"
          class="button"
          disabled={off}
          onClick={() => {
            inbox.edit(entry);
            focusSoon(firstField);
          }}
        >
          {edited === undefined ? 'Edit …' : 'Go on editing …'}
        </button>
      ) : null}
      <span class="soft small">
        {edited !== undefined
          ? 'Allow once runs the input as it was asked.'
          : hiddenFields.length > 0
            ? 'What is hidden cannot be edited.'
            : ''}
      </span>
    </div>
  );
}

/** A rejection, with a message for the agent. */
function RejectForm({
  inbox,
  entry,
  off,
}: Pick<PaneProps, 'inbox' | 'entry'> & { readonly off: boolean }): JSX.Element {
  const { id } = entry.asked;
  const { message, sending } = inbox.draftOf(id);
  return (
    <form
      class="part"
      onSubmit={(event) => {
        event.preventDefault();
        void inbox.answer(entry, {
          decision: 'reject_once',
          ...(message.trim() === '' ? {} : { message }),
        });
        focusSoon('.pane');
      }}
    >
      <label class="named">
        Message to the agent, if you like
        <textarea
          class="field words"
          value={message}
          maxLength={4_000}
          onInput={({ currentTarget }) => inbox.change(id, { message: currentTarget.value })}
        />
      </label>
      <div class="row">
        <button type="submit" class="button no" disabled={off}>
          {sending ? 'Sent …' : 'Reject'}
          <span class="unseen">: {labelOf(entry.asked)}</span>
        </button>
        <button
          type="button"
          class="button"
          onClick={() => {
            inbox.change(id, { doing: 'look' });
            focusSoon('.pane');
          }}
        >
          Cancel
        </button>
      </div>
    </form>
  );
}
