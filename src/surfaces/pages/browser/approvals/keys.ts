/**
 * The keys of the page. None of them answers. They choose an approval, or move the focus to a
 * button.
 */
import { useEffect } from 'preact/hooks';
import type { Entry, Inbox } from './inbox.ts';

/** Where the first key of an edit goes. */
export const firstField = '#edit :is(input, textarea, select)';

const keptOff = 'host-tools-keys-off';

/**
 * Whether single letters have an effect. Voice input and unsteady hands may type them by mistake.
 */
export function areKeysOn(): boolean {
  return localStorage.getItem(keptOff) === null;
}

export function setKeysOn(on: boolean): void {
  if (on) localStorage.removeItem(keptOff);
  else localStorage.setItem(keptOff, '1');
}

export function useKeys(inbox: Inbox, help: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (!isMeant(event)) return;
      if (pressed(event.key, inbox, help)) event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [inbox, help]);
}

function isMeant({ target, ctrlKey, metaKey, altKey, repeat, key }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey || document.querySelector('dialog[open]') !== null) return false;
  if (key === 'Escape') return true;
  if (target instanceof Element && target.closest('input, textarea, select') !== null) return false;
  return areKeysOn() && (!repeat || key === 'j' || key === 'k');
}

/** Whether the key had an effect. */
function pressed(key: string, inbox: Inbox, help: () => void): boolean {
  if (key === '?') {
    help();
    return true;
  }
  // The present state. The page may not have been drawn since the last key.
  const { entries, chosen } = inbox.known;
  const entry = entries.find(({ n }) => n === chosen);
  if (entry === undefined) return false;
  const { id, editable } = entry.asked;
  switch (key) {
    case 'j':
    case 'k':
      step(inbox, entries, entry, key === 'j' ? 1 : -1);
      return true;
    case 'a':
      inbox.change(id, { doing: 'look' });
      focusSoon('[data-key=a]');
      return true;
    case 'r':
      if (!canBegin(inbox, entry)) return false;
      inbox.change(id, { doing: 'reject' });
      focusSoon('.pane textarea');
      return true;
    case 'e':
      if (!editable || !canBegin(inbox, entry)) return false;
      inbox.edit(entry);
      focusSoon(firstField);
      return true;
    case 'Escape':
      if (inbox.draftOf(id).doing !== 'look') inbox.change(id, { doing: 'look' });
      focusSoon('[role=listbox]');
      return true;
    default:
      return false;
  }
}

function canBegin(inbox: Inbox, { asked, ended }: Entry): boolean {
  return ended === undefined && !inbox.draftOf(asked.id).sending;
}

function step(inbox: Inbox, entries: readonly Entry[], from: Entry, by: number): void {
  const to = entries[entries.indexOf(from) + by];
  if (to !== undefined) inbox.choose(to.n);
  focusSoon('[role=listbox]');
}

/** Moves the focus to the approval that is shown. */
export function openingPane(): void {
  focusSoon('.pane');
}

/** This runs once the page has been drawn. */
export function focusSoon(selector: string): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const found = document.querySelector<HTMLElement>(selector);
      found?.focus();
      // An input is read from its beginning, and not from its end.
      if (selector === firstField && found instanceof HTMLTextAreaElement)
        found.setSelectionRange(0, 0);
    }),
  );
}
