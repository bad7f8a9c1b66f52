/** The questions that wait for a person: the inbox of the page of approvals. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useKnown as useInbox } from '../approvals/inbox.ts';
import { InboxView } from '../approvals/inbox-view.tsx';
import type { ViewProps } from './place.ts';
import { inboxOf, keepReviewerName, reviewerName } from './questions.ts';

export function ApprovalsView({ store, known, place }: ViewProps): JSX.Element {
  const inbox = inboxOf(store);
  const waiting = useInbox(inbox);
  const { question } = place;
  const shown = useRef<ViewProps['place']['question']>(undefined);
  // The question may come later than its call. Once it was shown, the person chooses.
  useEffect(() => {
    if (question === undefined || shown.current === question) return;
    const { callId, sessionId } = question;
    const entry = waiting.entries.find(
      ({ asked }) => asked.callId === callId && asked.sessionId === sessionId,
    );
    if (entry === undefined) return;
    shown.current = question;
    inbox.choose(entry.n);
  }, [inbox, question, waiting.entries]);
  const [help, setHelp] = useState(false);
  return (
    <InboxView
      inbox={inbox}
      known={waiting}
      help={help}
      setHelp={setHelp}
      isOpen={question !== undefined}
      above={
        <>
          {known.state?.approvalsUnread === true ? (
            <p class="notice warn away">
              The store of approvals cannot be read, so suspended calls are missing here.
            </p>
          ) : null}
          <div class="reviewer row">
            <Reviewer />
            <button type="button" class="button small" onClick={() => setHelp(true)}>
              Keys <kbd>?</kbd>
            </button>
          </div>
        </>
      }
    />
  );
}

/** Nobody signs in to the inspector, so a person says who answers. */
function Reviewer(): JSX.Element {
  const [name, setName] = useState(reviewerName());
  return (
    <label class="row grow">
      <span class="small soft">You answer as</span>
      <input
        class="field"
        value={name}
        placeholder="inspector"
        autocomplete="name"
        maxLength={200}
        onInput={({ currentTarget: { value } }) => {
          setName(value);
          keepReviewerName(value);
        }}
      />
    </label>
  );
}
