/** What an edit changes, field by field: before it is sent, and once the call ran with it. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { JsonObject } from '../../../../values/json/value.ts';
import { Part, Scroll } from '../parts/elements.tsx';
import { visibleName } from '../parts/visible.ts';
import { several } from '../parts/words.ts';
import { changesOf } from './changes.ts';
import { DiffView } from './diff-view.tsx';

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
                {visibleName(name)}
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
