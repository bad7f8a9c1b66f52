/** The program that makes a call: its source, and all questions about its calls. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Badge, Part } from '../parts/elements.tsx';
import { ProgramSource } from '../parts/program-source.tsx';
import { labelOf } from './heading.tsx';
import type { Entry } from './inbox.ts';
import type { PaneProps } from './pane-props.ts';

export function Program({ inbox, entry, known }: PaneProps): JSX.Element | null {
  const { asked } = entry;
  const { entries } = known;
  const members = useMemo(
    () => entries.filter((one) => isOfSame(one, entry)).sort(byLine),
    [entries, entry],
  );
  // Drawn once, and not each second with the clock. It may be long.
  const source = useMemo(() => {
    if (asked.program?.source === undefined) return undefined;
    const marks = new Map<number, string>();
    for (const { asked: one } of members) {
      const { line = 0 } = one.program ?? {};
      if (one === asked || !marks.has(line)) marks.set(line, one === asked ? here : 'also asked');
    }
    return <ProgramSource source={asked.program.source} marks={marks} main={asked.program.line} />;
  }, [members, asked]);
  if (asked.program === undefined) return null;
  const { line } = asked.program;
  return (
    <Part title={line === 0 ? 'Program that makes this call' : `Program, at line ${line}`}>
      {members.length < 2 ? null : (
        <ol class="siblings" aria-label="Questions of this program">
          {members.map((one) => (
            <Sibling
              key={one.n}
              entry={one}
              isHere={one === entry}
              choose={() => inbox.choose(one.n)}
            />
          ))}
        </ol>
      )}
      {source ?? <p class="soft small">The source is not shown, because it may hold a secret.</p>}
    </Part>
  );
}

const here = 'this call';

/** A question of the same program. Each is answered by itself. */
function Sibling({
  entry: { asked, ended },
  isHere,
  choose,
}: {
  readonly entry: Entry;
  readonly isHere: boolean;
  readonly choose: () => void;
}): JSX.Element {
  const { line = 0 } = asked.program ?? {};
  return (
    <li class="row">
      <span class="soft small mono at">{line === 0 ? '' : `line ${line}`}</span>
      {isHere ? (
        <strong class="cut grow" aria-current="true">
          {labelOf(asked)}
        </strong>
      ) : (
        <span class="cut grow">
          <button type="button" class="link" onClick={choose}>
            {labelOf(asked)}
          </button>
        </span>
      )}
      {ended === undefined ? (
        <Badge tone={isHere ? 'accent' : 'plain'}>{isHere ? here : 'waits'}</Badge>
      ) : (
        <Badge tone={ended.tone}>{ended.word}</Badge>
      )}
    </li>
  );
}

function isOfSame({ asked: one }: Entry, { asked: other }: Entry): boolean {
  return (
    one.program !== undefined &&
    one.parent?.callId === other.parent?.callId &&
    one.sessionId === other.sessionId &&
    one.principal === other.principal
  );
}

function byLine({ asked: one, n }: Entry, { asked: other, n: otherN }: Entry): number {
  return (one.program?.line ?? 0) - (other.program?.line ?? 0) || n - otherN;
}
