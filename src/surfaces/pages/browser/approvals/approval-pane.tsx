/** One approval: what would run, why a person is asked, and the ways to answer. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { JsonObject } from '../../../../values/json/value.ts';
import { toldApprovers } from '../../../../values/text/question-words.ts';
import type { WaitingApproval } from '../../approvals-wire.ts';
import { Part } from '../parts/elements.tsx';
import { foldText } from '../parts/input-shape.ts';
import { OriginsTable } from '../parts/origins-table.tsx';
import { useShownValue } from '../parts/shown-value.tsx';
import { TakeBack } from '../parts/take-back.tsx';
import { aboutOf, agentsOf, labelsOf, shortTimeOf } from '../parts/words.ts';
import { AnswerBar } from './answer-bar.tsx';
import { ChangesView } from './changes-view.tsx';
import { EditForm, useEdit } from './edit-form.tsx';
import { groupsOf } from './groups.ts';
import { Below, Heading, labelOf } from './heading.tsx';
import type { PaneProps } from './pane-props.ts';
import { Program } from './program.tsx';
import { RiskBadge } from './waiting-list.tsx';

type Props = PaneProps & { readonly back: () => void };

/** Nothing can be answered before all of it is shown. */
export function ApprovalPane(props: Props): JSX.Element {
  const { asked } = props.entry;
  return asked.input === undefined || asked.leftOut !== undefined ? (
    <IncompletePane {...props} />
  ) : (
    <WholePane {...props} input={asked.input} />
  );
}

function IncompletePane(props: Props): JSX.Element {
  const { asked, ended } = props.entry;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="pane detail" tabIndex={0} aria-label={labelOf(asked)}>
      <PaneHead {...props} />
      {ended === undefined ? null : <p class={`notice ${ended.tone}`}>{ended.text}</p>}
      {ended === undefined ? <p class="soft">Loading the rest of this call …</p> : null}
      <Details asked={asked} now={props.now} />
    </section>
  );
}

function PaneHead({ entry, known: { entries }, now, back }: Props): JSX.Element {
  const { asked } = entry;
  const group = useMemo(
    () => groupsOf(entries).find(({ members }) => members.includes(entry)),
    [entries, entry],
  );
  const { expiresAt, risk } = asked;
  return (
    <div class="detail-head">
      <button type="button" class="button back" onClick={back}>
        Back
      </button>
      <div class="grow">
        <h2 class="wrap">
          <Heading asked={asked} />
        </h2>
        <p class="soft wrap">
          <Below asked={asked} />
          {expiresAt > now ? ` · expires in ${aboutOf(expiresAt - now)}` : ' · expired'}
        </p>
        {group === undefined || group.members.length === 1 ? null : (
          <p class="soft small wrap">
            {group.members.indexOf(entry) + 1} of {group.members.length} {group.words}
          </p>
        )}
      </div>
      <RiskBadge risk={risk} />
    </div>
  );
}

function WholePane(props: Props & { readonly input: JsonObject }): JSX.Element {
  const { inbox, entry, input, now } = props;
  const { asked, ended } = entry;
  const { doing, edited } = inbox.draftOf(asked.id);
  const edit = useEdit(asked, input, edited);
  const { read } = edit;
  const isShown = doing === 'look' || doing === 'reject';
  const title = ended === undefined ? 'Input that will run' : 'Input';
  const { part, folds, unfoldAll } = useShownValue(input, title, `Input of ${asked.tool.name}`);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="pane detail" tabIndex={0} aria-label={labelOf(asked)}>
      <PaneHead {...props} />
      {ended === undefined ? null : <p class={`notice ${ended.tone}`}>{ended.text}</p>}
      {ended?.undo === true ? (
        <TakeBack tool={asked.tool.name} take={() => inbox.undo(entry)} />
      ) : null}
      <Message asked={asked} />
      {ended?.input !== undefined ? (
        <ChangesView asked={input} input={ended.input} />
      ) : doing === 'review' && 'input' in read ? (
        <ChangesView asked={input} input={read.input} />
      ) : !isShown ? (
        <EditForm inbox={inbox} asked={asked} edit={edit} />
      ) : (
        part
      )}
      {asked.hiddenFields.length === 0 ? null : (
        <p class="soft small wrap">
          Hidden because they are secret: <span class="mono">{asked.hiddenFields.join(', ')}</span>
        </p>
      )}
      <Origins asked={asked} />
      <Details asked={asked} now={now} />
      <Program {...props} />
      <AnswerBar
        {...props}
        read={read}
        folds={isShown && ended === undefined ? folds : []}
        unfoldAll={unfoldAll}
      />
    </section>
  );
}

/**
 * The host's own text, folded if it is long. Sentences about origins are shown separately, because
 * a model may influence the text.
 */
function Message({ asked }: { readonly asked: WaitingApproval }): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  if (asked.message === undefined) return null;
  const lines = asked.message.split('\n');
  const own = lines.slice(0, lines.length - asked.originWords.length).join('\n');
  if (own === '') return null;
  const folded = isOpen ? undefined : foldText(own);
  return (
    <div>
      <p class="pre wrap message">{folded === undefined ? own : `${folded.shown}…`}</p>
      {folded === undefined ? null : (
        <button type="button" class="button small unfold" onClick={() => setOpen(true)}>
          Show {folded.rest}
          <span class="unseen"> of the message</span>
        </button>
      )}
    </div>
  );
}

/**
 * What tells where the question comes from. The input is above it, since that is what runs.
 * Longer than 60 lines, since it is one list.
 */
function Details({
  asked,
  now,
}: {
  readonly asked: WaitingApproval;
  readonly now: number;
}): JSX.Element {
  const { actor, callId, parent, principal, sessionId, ruleId, source, quotas } = asked;
  const { approvers, allowedBy = [] } = asked;
  const [agents, labels] = [agentsOf(actor), labelsOf(actor)];
  return (
    <Part title="Details">
      <dl class="facts">
        {quotas?.map(({ quota, used, max, amount }) => (
          <>
            <dt>Over quota</dt>
            <dd>
              <b class="mono">{quota}</b>: {used} of {max} used, and this call adds {amount}
            </dd>
          </>
        ))}
        <dt>Asked because of</dt>
        <dd>
          {ruleId === undefined ? null : (
            <>
              rule <b class="mono">{ruleId}</b> of{' '}
            </>
          )}
          {source === 'tool' ? 'the tool itself' : <span class="mono">{source}</span>}
        </dd>
        {approvers === undefined ? null : (
          <>
            <dt>Has to be allowed by</dt>
            <dd>{toldApprovers(approvers)}</dd>
          </>
        )}
        {allowedBy.length === 0 ? null : (
          <>
            <dt>Allowed so far by</dt>
            <dd class="mono">{allowedBy.join(', ')}</dd>
          </>
        )}
        <dt>On behalf of</dt>
        <dd>
          {principal === undefined ? 'nobody in particular' : <b class="mono">{principal}</b>}
          {labels === undefined ? null : ` (${labels})`}
        </dd>
        {agents === undefined ? null : (
          <>
            <dt>Through</dt>
            <dd class="mono">{agents}</dd>
          </>
        )}
        <dt>Session</dt>
        <dd class="mono">{sessionId}</dd>
        <dt>Call</dt>
        <dd>
          <span class="mono">{callId}</span>
          {parent === undefined ? null : (
            <>
              , made by <span class="mono">{parent.tool}</span> in the call{' '}
              <span class="mono">{parent.callId}</span>
            </>
          )}
        </dd>
        <dt>Waiting</dt>
        <dd>
          since {shortTimeOf(asked.requestedAt)}, {aboutOf(now - asked.requestedAt)}
        </dd>
      </dl>
    </Part>
  );
}

function Origins({ asked }: { readonly asked: WaitingApproval }): JSX.Element | null {
  const { originWords, origins = [] } = asked;
  if (origins.length === 0) return null;
  return (
    <Part title="Where its values came from">
      {originWords.length === 0 ? null : (
        <ul class="notice warn origin-words">
          {originWords.map((sentence) => (
            <li key={sentence} class="wrap">
              {sentence}
            </li>
          ))}
        </ul>
      )}
      <div class="table">
        <OriginsTable origins={origins} />
      </div>
    </Part>
  );
}
