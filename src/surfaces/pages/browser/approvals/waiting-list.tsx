/** The list of waiting approvals, newest last. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Badge, type Tone } from '../parts/elements.tsx';
import { type RowGroup, VirtualList } from '../parts/virtual-list.tsx';
import { aboutOf } from '../parts/words.ts';
import { groupsOf } from './groups.ts';
import { Below, Heading } from './heading.tsx';
import type { Entry, Known } from './inbox.ts';

const rowHeight = 80;
const riskTones: Readonly<Record<string, Tone>> = { low: 'plain', medium: 'warn', high: 'bad' };

export function RiskBadge({ risk }: { readonly risk: string | undefined }): JSX.Element | null {
  if (risk === undefined) return null;
  const tone = Object.hasOwn(riskTones, risk) ? (riskTones[risk] as Tone) : 'plain';
  return <Badge tone={tone}>{risk} risk</Badge>;
}

export function WaitingListBox({
  known: { entries, chosen, more },
  now,
  choose,
  open,
  show,
}: {
  readonly known: Known;
  readonly now: number;
  readonly choose: (n: number) => void;
  /** Goes to the approval, with the focus. */
  readonly open: () => void;
  /** Shows the approval if there is no room for both. */
  readonly show: () => void;
}): JSX.Element {
  const byNumber = new Map(entries.map((entry) => [entry.n, entry]));
  const groups = useMemo(() => headedGroups(entries), [entries]);
  return (
    <div class="questions">
      <VirtualList
        label="Approvals, newest last"
        keys={entries.map(({ n }) => n)}
        rowHeight={rowHeight}
        groupOf={(n) => groups.get(n)}
        chosen={chosen}
        choose={choose}
        clicked={show}
        enter={open}
        row={(n) => {
          const entry = byNumber.get(n);
          return entry === undefined ? null : <Row entry={entry} now={now} />;
        }}
      />
      {more ? (
        <p class="soft small more">More are waiting. They appear as these are answered.</p>
      ) : null}
    </div>
  );
}

/** The headings of groups, by the numbers of their questions. A single question has none. */
function headedGroups(entries: readonly Entry[]): ReadonlyMap<number, RowGroup> {
  const found = new Map<number, RowGroup>();
  for (const { words, members } of groupsOf(entries)) {
    const [first] = members;
    if (first === undefined || members.length === 1) continue;
    const group = { first: first.n, label: `${members.length} ${words}` };
    for (const { n } of members) found.set(n, group);
  }
  return found;
}

function Row({
  entry: { asked, ended },
  now,
}: {
  readonly entry: Entry;
  readonly now: number;
}): JSX.Element {
  return (
    <div class={`waiting ${ended === undefined ? '' : 'ended'}`}>
      <div class="line">
        <strong class="title grow">
          <Heading asked={asked} />
        </strong>
        <span class="ago small soft">{aboutOf(now - asked.requestedAt)}</span>
      </div>
      <div class="line small soft">
        <span class="cut grow">
          <Below asked={asked} />
        </span>
        {ended === undefined ? (
          <RiskBadge risk={asked.risk} />
        ) : (
          <Badge tone={ended.tone}>{ended.word}</Badge>
        )}
      </div>
    </div>
  );
}
