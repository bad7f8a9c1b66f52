/** A value under a title: field by field, texts as texts, or as JSON, as a person likes. */
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { JsonText, Part } from './elements.tsx';
import { type Fold, foldMembers, foldsIn, foldText, type Member, shapeOf } from './input-shape.ts';
import { visibleName, visibleParts } from './visible.ts';

export function ShownValue({
  value,
  title,
  label,
}: {
  readonly value: unknown;
  readonly title: string;
  readonly label: string;
}): JSX.Element {
  return useShownValue(value, title, label).part;
}

/** A value, field by field or as JSON, and what of it is folded. */
export function useShownValue(
  value: unknown,
  title: string,
  label: string,
): {
  readonly part: JSX.Element;
  readonly folds: readonly Fold[];
  readonly unfoldAll: () => void;
} {
  const [open, setOpen] = useState<ReadonlySet<string>>(nothing);
  const [isRaw, setRaw] = useState(false);
  const folds = useMemo(() => (isRaw ? [] : foldsIn(value, open)), [value, open, isRaw]);
  // Drawn once, and not each second with the clock. It may be long.
  const part = useMemo(
    () => (
      <Part
        title={title}
        beside={
          <button
            type="button"
            class="button small"
            aria-pressed={isRaw}
            onClick={() => setRaw(!isRaw)}
          >
            Raw JSON
          </button>
        }
      >
        {isRaw ? (
          <JsonText value={value} label={label} />
        ) : (
          <InputView
            value={value}
            label={label}
            open={open}
            unfold={(pointer) => setOpen((before) => new Set([...before, pointer]))}
          />
        )}
      </Part>
    ),
    [value, title, label, open, isRaw],
  );
  return { part, folds, unfoldAll: () => setOpen(everyFold(value, open)) };
}

const nothing: ReadonlySet<string> = new Set();

/** Folded members may have folded texts in them. */
function everyFold(value: unknown, open: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set(open);
  for (;;) {
    const more = foldsIn(value, all);
    if (more.length === 0) return all;
    for (const { pointer } of more) all.add(pointer);
  }
}

/** The input of a call, field by field: texts as texts, and long ones folded. */
interface Folding {
  /** JSON pointers of what a person has unfolded. */
  readonly open: ReadonlySet<string>;
  readonly unfold: (pointer: string) => void;
}

function InputView({
  value,
  label,
  ...folding
}: Folding & { readonly value: unknown; readonly label: string }): JSX.Element {
  return (
    <section class="fields-view" aria-label={label}>
      {isEmpty(value) ? (
        <p class="soft">It has no members.</p>
      ) : (
        <Value value={value} pointer="" depth={0} name="" {...folding} />
      )}
    </section>
  );
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

type ValueProps = Folding & {
  readonly value: unknown;
  readonly pointer: string;
  readonly depth: number;
  /** The name of the member, for the buttons that unfold. */
  readonly name: string;
};

function Value({ value, pointer, depth, name, ...folding }: ValueProps): JSX.Element {
  const shape = shapeOf(value, pointer, depth);
  if (shape.kind === 'line') return <Line value={shape.value} />;
  const { open } = folding;
  if (shape.kind === 'block') {
    const folded = open.has(pointer) ? undefined : foldText(shape.text);
    return (
      <div class="block">
        <pre class={shape.isJson ? 'json-block' : ''}>
          <Text text={folded?.shown ?? shape.text} />
          {folded === undefined ? null : '…'}
        </pre>
        <Unfold rest={folded?.rest} name={name} pointer={pointer} {...folding} />
      </div>
    );
  }
  const folded = open.has(pointer) ? undefined : foldMembers(shape.members, shape.isList);
  const members = folded?.shown ?? shape.members;
  return (
    <>
      <dl class={`members ${shape.isList ? 'entries' : ''}`}>
        {members.map((member) => (
          <MemberRow
            key={member.name}
            member={member}
            depth={depth + 1}
            isEntry={shape.isList}
            {...folding}
          />
        ))}
      </dl>
      <Unfold rest={folded?.rest} name={name} pointer={pointer} {...folding} />
    </>
  );
}

function MemberRow({
  member: { name, pointer, value },
  depth,
  isEntry,
  ...folding
}: Folding & {
  readonly member: Member;
  readonly depth: number;
  readonly isEntry: boolean;
}): JSX.Element {
  const isLine = shapeOf(value, pointer, depth).kind === 'line';
  const shown = isEntry ? String(Number(name) + 1) : visibleName(name);
  return (
    <div class={isLine ? 'member' : 'member tall'}>
      <dt class="mono wrap">{shown}</dt>
      <dd>
        <Value value={value} pointer={pointer} depth={depth} name={shown} {...folding} />
      </dd>
    </div>
  );
}

function Unfold({
  rest,
  name,
  pointer,
  unfold,
}: Folding & {
  readonly rest: string | undefined;
  readonly name: string;
  readonly pointer: string;
}): JSX.Element | null {
  if (rest === undefined) return null;
  return (
    <button type="button" class="button small unfold" onClick={() => unfold(pointer)}>
      Show {rest}
      {name === '' ? null : <span class="unseen"> of {name}</span>}
    </button>
  );
}

/** A text that looks like another value, or whose ends are invisible, is in quotes. */
const unclear = /^(?:$|\s|["“]|(?:-?\d[\d.e+-]*|true|false|null|\[\]|\{\})$)|\s$/i;

function Line({ value }: { readonly value: unknown }): JSX.Element {
  if (typeof value !== 'string') return <code class="value">{JSON.stringify(value)}</code>;
  return (
    <code class="text">
      {unclear.test(value) ? <Text text={JSON.stringify(value)} /> : <Text text={value} />}
    </code>
  );
}

/** A text in which escapes of invisible characters are marked. */
export function Text({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {visibleParts(text).map((part, at) =>
        at % 2 === 0 ? (
          part
        ) : (
          <mark key={at} class="escape">
            {part}
          </mark>
        ),
      )}
    </>
  );
}
