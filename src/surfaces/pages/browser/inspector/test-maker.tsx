/** Makes a policy test from a call, and shows whether the present rules pass it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type {
  TestDecision,
  TestExpectation,
  TestRequest,
  TestTrial,
} from '../../inspector-make-wire.ts';
import type { CallLine } from '../../inspector-wire.ts';
import { CopyBox } from '../parts/elements.tsx';
import type { Store } from './store.ts';
import { useTrial } from './use-trial.ts';

const expectations: Readonly<Record<TestExpectation, string>> = {
  recorded: 'what happened to this call',
  now: 'what the rules decide now',
  allow: 'allow',
  ask: 'ask a person',
  deny: 'deny',
  hidden: 'the tool is hidden',
};
const noteWords: Readonly<Record<TestTrial['notes'][number], string>> = {
  redacted:
    'The input has [redacted] in place of hidden values. Replace it before you use the test.',
  facts: 'The session has facts, which the page does not show. If rules test them, add `facts`.',
  quota: 'A quota decided this call. A test begins with empty quotas.',
};

export function TestMaker({
  store,
  line,
  gone,
}: {
  readonly store: Store;
  readonly line: CallLine;
  readonly gone: boolean;
}): JSX.Element {
  const [expect, setExpect] = useState<TestExpectation>('recorded');
  const request: TestRequest = { n: line.n, expect };
  const { answer, isCurrent, trouble } = useTrial<TestTrial>(store, 'test', request, gone);
  return (
    <section class="maker part" aria-label="Make a policy test">
      <h3>Make a policy test</h3>
      <label class="named">
        The test expects
        <select
          class="field"
          value={expect}
          onChange={({ currentTarget }) => setExpect(currentTarget.value as TestExpectation)}
        >
          {(Object.keys(expectations) as TestExpectation[]).map((one) => (
            <option key={one} value={one}>
              {expectations[one]}
            </option>
          ))}
        </select>
      </label>
      {trouble === '' ? null : <p class="notice warn">{trouble}</p>}
      {answer === undefined ? null : (
        <>
          <div role="status" class={isCurrent ? '' : 'outdated'}>
            <p class={`notice ${answer.passes ? 'good' : 'bad'}`}>
              {isCurrent ? '' : 'Before your last change: '}
              {outcomeText(answer)}
            </p>
          </div>
          {answer.notes.map((note) => (
            <p key={note} class="soft small">
              {noteWords[note]}
            </p>
          ))}
          <CopyBox label="The policy test" text={answer.yaml} stale={!isCurrent} />
        </>
      )}
    </section>
  );
}

function outcomeText({ passes, expected, found }: TestTrial): string {
  if (passes) return `The present rules pass the test: ${decisionText(found)}.`;
  return (
    `The present rules do not pass the test: it expects ${decisionText(expected)}, and they ` +
    `decide ${decisionText(found)}.`
  );
}

/** `deny (known_thief, by no-eve)` */
function decisionText({ decision, reason, ruleId }: TestDecision): string {
  const more = [
    ...(reason === undefined ? [] : [reason]),
    ...(ruleId === undefined ? [] : [`by ${ruleId}`]),
  ];
  return more.length === 0 ? decision : `${decision} (${more.join(', ')})`;
}
