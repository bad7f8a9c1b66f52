/** What an edit changes, field by field, before it is sent. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { JsonObject, JsonValue } from '../../../../json/value.ts';
import { Scroll } from '../parts/scroll.tsx';
import { visibleJson, visibleText } from '../parts/visible.ts';
import { several } from '../parts/words.ts';
import { DiffView } from './diff-view.tsx';
import { type DiffLine, diffLines } from './input-diff.ts';
import { Part } from './part.tsx';

interface Change {
  readonly name: string;
  /** What happened to the field. */
  readonly what: 'changed' | 'added' | 'left out';
  readonly lines: readonly DiffLine[];
}

/** The value that is sent is compared, however it was edited. */
export function ChangesView({
  asked,
  input,
}: {
  readonly asked: JsonObject;
  readonly input: JsonObject;
}): JSX.Element {
  const changes = useMemo(() => changesOf(asked, input), [asked, input]);
  const same = Object.keys(input).length - changes.filter(({ what }) => what !== 'left out').length;
  return (
    <Part title="What your edit changes">
      {changes.length === 0 ? (
        <p class="notice">Nothing. This is the input as it was asked.</p>
      ) : (
        <Scroll name="edit-changes" label="What your edit changes">
          {changes.map(({ name, what, lines }) => (
            <div key={name} class="change">
              <p class="mono wrap">
                {visibleText(name)}
                {what === 'changed' ? null : <span class="soft"> ({what})</span>}
              </p>
              <DiffView lines={lines} />
            </div>
          ))}
          {same === 0 ? null : (
            <p class="soft small">
              {several(same, 'other field stays', 'other fields stay')} as{' '}
              {same === 1 ? 'it is' : 'they are'}.
            </p>
          )}
        </Scroll>
      )}
    </Part>
  );
}

function changesOf(asked: JsonObject, input: JsonObject): Change[] {
  const names = new Set([...Object.keys(asked), ...Object.keys(input)]);
  return [...names].flatMap((name): Change[] => {
    const before = Object.hasOwn(asked, name) ? (asked[name] as JsonValue) : undefined;
    const after = Object.hasOwn(input, name) ? (input[name] as JsonValue) : undefined;
    if (JSON.stringify(before) === JSON.stringify(after)) return [];
    // Texts are compared as texts if both sides are, so that no quotes or escapes are in the way.
    const isText =
      [before, after].every((one) => one === undefined || typeof one === 'string') &&
      [before, after].some((one) => typeof one === 'string' && one.includes('\n'));
    const textOf = (value: JsonValue): string =>
      isText ? visibleText(value as string) : visibleJson(value);
    const all = (kind: 'gone' | 'new', value: JsonValue): DiffLine[] =>
      textOf(value)
        .split('\n')
        .map((text) => ({ kind, text }));
    if (after === undefined)
      return [{ name, what: 'left out', lines: all('gone', before ?? null) }];
    if (before === undefined) return [{ name, what: 'added', lines: all('new', after) }];
    return [{ name, what: 'changed', lines: diffLines(textOf(before), textOf(after)) }];
  });
}
