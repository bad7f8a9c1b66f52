/** The list of keys. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { areKeysOn, setKeysOn } from './keys.ts';

const keys: readonly (readonly [string, string])[] = [
  ['j, k', 'the next and the previous approval; so do the arrows in the list'],
  ['Enter', 'from the list to the approval'],
  ['a', 'to the button that allows; press Enter there to allow'],
  ['r', 'reject, with a message if you like'],
  ['e', 'edit the input'],
  ['Escape', 'back to the list; what you have typed stays'],
  ['?', 'this help'],
];

export function HelpDialog({
  open,
  close,
}: {
  readonly open: boolean;
  readonly close: () => void;
}): JSX.Element {
  const own = useRef<HTMLDialogElement>(null);
  const [on, setOn] = useState(areKeysOn());
  useEffect(() => {
    if (open) own.current?.showModal();
    else own.current?.close();
  }, [open]);
  return (
    <dialog ref={own} class="card help" aria-labelledby="help-title" onClose={close}>
      <div class="body part">
        <h2 id="help-title">Keys</h2>
        <dl class="facts">
          {keys.map(([key, meaning]) => (
            <>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{meaning}</dd>
            </>
          ))}
        </dl>
        <p class="soft small">No key allows a call by itself.</p>
        <label class="row">
          <input
            type="checkbox"
            checked={on}
            onChange={({ currentTarget }) => {
              setKeysOn(currentTarget.checked);
              setOn(currentTarget.checked);
            }}
          />
          Single letters do something
        </label>
        <div class="row">
          <button type="button" class="button main" onClick={close}>
            Close
          </button>
        </div>
      </div>
    </dialog>
  );
}
